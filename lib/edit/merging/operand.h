// One operand of a merge: its file, what its nodes are called in the merged graph, and how they are written
// there: docs/rules.md#merge-names, docs/rules.md#merge-input-map, docs/rules.md#identities.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/by_text.h"
#include "edit/basis/facts.h"
#include "edit/basis/runtime_names.h"
#include "edit/merging/request.h"
#include "graph/edges.h"
#include "graph/mapping.h"
#include "graph/names.h"
#include "model/references.h"

namespace gedit {

// An operand as it was read, of which nothing is decided.
struct OperandFile {
  OperandFile(size_t position, uint32_t first_node, MergeOperand operand);

  const size_t number;   // among the operands
  const uint32_t first;  // of its nodes in the merged graph
  Model model;
  Registry ops;
  const std::string name;        // "" for an operand without one
  const std::string prefix;      // `NAME/`, or ""
  const std::string checkpoint;  // as MergeOperand has it
  const Facts facts;

  const Graph& graph() const { return model.graph(); }
};
using OperandFiles = std::vector<std::unique_ptr<OperandFile>>;

// A node of one operand.
struct MergePlace {
  size_t part = 0;
  NodeId node = kNoNode;

  friend bool operator==(const MergePlace&, const MergePlace&) = default;
};

// What becomes of the instance_key of collective operations: the lowest that no operand before uses, where
// one does. Found out when it is first asked for, since few graphs have any.
class InstanceKeys {
 public:
  explicit InstanceKeys(std::vector<const OperandFile*> files) : files_(std::move(files)) {}
  int64_t of(size_t operand, int64_t key) const;

 private:
  std::vector<const OperandFile*> files_;
  mutable std::map<std::pair<size_t, int64_t>, int64_t> keys_;  // by operand and key
};

// What the nodes and identities of one operand are called; name_operands() decides it, for good.
struct OperandNames {
  explicit OperandNames(const OperandFile& file);

  const ScopeNames scope;
  // By node, the number behind its name (`x_1`), 0 for none; empty where no node has one.
  std::vector<uint32_t> numbers;
  // Nodes that are to be one with an earlier operand's, in the order of the file.
  struct Twin {
    NodeId node;
    MergePlace earlier;
  };
  std::vector<Twin> twins;
  Identities identities;
  bool surveyed = false;    // `identities` knows all that there are
  bool fresh_identities;    // they are not the same in the merged graph
  bool name_empty_handles;  // a VarHandleOp without a shared_name gets its node's name
  std::shared_ptr<const InstanceKeys> instance_keys;

  uint32_t number(NodeId id) const { return numbers.empty() || id == kNoNode ? 0 : numbers[index_of(id)]; }
};

// The operand as it is written. What its nodes are called never changes; what else becomes of them is told by
// a call each, from which follows which nodes need a closer look than the prefix.
class MergePart final : public Mapping {
 public:
  MergePart(std::unique_ptr<OperandFile> file, std::unique_ptr<const OperandNames> names);

  const std::unique_ptr<OperandFile> file;
  const std::unique_ptr<const OperandNames> names;
  const size_t number;
  const uint32_t first;
  Model& model;
  Registry& ops;
  const std::string &name, &prefix;
  const Facts& facts;

  const Graph& graph() const { return model.graph(); }
  std::string name_of(std::string_view node) const {
    std::string out;
    this->node(node, out);
    return out;
  }

  // The node is not written: nothing needs it, or it is one with an earlier operand's, which has its new
  // name.
  void remove(NodeId id) { removed_.add(id); }
  void share(NodeId id) { shared_.add(id); }
  const NodeSet& removed() const { return removed_; }
  const NodeSet& shared() const { return shared_; }
  bool written(NodeId id) const { return !removed_.has(id) && !shared_.has(id); }

  // The node has a name of its own, which is free.
  void rename(NodeId id, std::string name);
  bool renamed(std::string_view node) const { return renamed_.contains(node); }

  // The node reads `input` there, by the names in the merged graph; nothing: it has that input no more.
  void read_instead(NodeId reader, uint32_t slot, std::optional<std::string_view> input);
  // The same wherever the node reads one of these (`a`, `a:1`, `^a`, as in this file).
  void read_instead(NodeId reader, const ByText<std::string>& inputs);
  // What the node reads there by now, nullptr where it reads what it did; kDropped for an input that is gone.
  const std::string* read_now(NodeId reader, uint32_t slot) const;
  static const std::string kDropped;
  bool reads_instead(NodeId id) const { return !inputs_.empty() && special_.has(id); }
  bool any_reads_instead() const { return !inputs_.empty(); }

  // Tensors that its nodes read, perhaps through others, got another source: the `_output_shapes` of nodes
  // for which stale(node) is true no longer hold. Asked for nodes that have any.
  void drop_stale_shapes(std::function<bool(NodeId)> stale) { stale_shapes_ = std::move(stale); }

  // Of its functions: another name; another definition, none where it is empty; one that is never one with
  // another operand's, whatever it says, since what is known of it elsewhere differs.
  void rename_function(std::string_view function, std::string name) {
    functions_.emplace(function, std::move(name));
  }
  bool renames_function(const std::string& function) const { return functions_.contains(function); }
  void redefine_function(const std::string& function, std::string definition) {
    redefined_[function] = std::move(definition);
  }
  const std::string* redefined_function(const std::string& function) const;
  void keep_function_apart(std::string_view function) { apart_.emplace(function); }
  bool function_apart(const std::string& function) const { return apart_.contains(function); }

  // A gradient that its library registers goes by another name, as what nodes name it by.
  void rename_gradient(std::string_view op_type, std::string name) {
    gradient_types_.emplace(op_type, std::move(name));
  }
  void gradient_type(std::string_view op_type, std::string& out) const;

  // Whether all nodes are written as they are.
  bool verbatim() const;
  // To be called when all is decided, before it is written.
  void finish();

  void node(std::string_view node, std::string& out) const override;
  const Prefixing* prefixing(NodeId id) const override;
  bool input(const NodeHead& reader, std::string_view input, std::string& out) const override;
  bool colocation(const NodeHead& holder, std::string_view target, std::string& out) const override;
  void identity(const NodeHead& holder, Role role, std::string_view value, std::string& out) const override;
  int64_t instance_key(int64_t key) const override;
  void function(std::string_view function, std::string& out) const override;
  bool maps_functions() const override { return !functions_.empty() || !gradient_types_.empty(); }
  bool drops(const NodeHead& holder, std::string_view key) const override;
  void add(const NodeHead& holder, std::string_view node_def, std::string& out) const override;

 private:
  void look_at_colocated();

  NodeSet removed_, shared_;
  NodeSet special_;  // nodes that need more than the prefix
  std::unordered_map<std::string_view, std::string> renamed_;
  std::unordered_map<uint64_t, const std::string*> inputs_;  // by reader and slot
  std::deque<std::string> texts_;                            // of inputs_
  std::function<bool(NodeId)> stale_shapes_;
  std::unordered_map<std::string, std::string> functions_, redefined_, gradient_types_;
  std::unordered_set<std::string> apart_;
  Prefixing prefixing_;
  bool prefixes_ = false;  // what is not special needs nothing but the prefix
};
using MergeParts = std::vector<std::unique_ptr<MergePart>>;

// The names in the messages around an operand's graph.
class MergeNames final : public NameMap {
 public:
  explicit MergeNames(const MergePart& part) : part_(part) {}
  bool map(NameKind kind, std::string_view name, std::string& out) const override;

 private:
  const MergePart& part_;
};

}  // namespace gedit
