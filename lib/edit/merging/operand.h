// How the nodes of one operand of a merge are written, and what is known about it: docs/rules.md#merge-names,
// docs/rules.md#merge-input-map, docs/rules.md#identities.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "edit/basis/runtime_names.h"
#include "edit/merging/request.h"
#include "graph/edges.h"
#include "graph/mapping.h"
#include "graph/names.h"
#include "model/references.h"

namespace gedit {

// What is derived from a graph, made when it is first asked for: most merges need none of it.
class GraphFacts {
 public:
  explicit GraphFacts(const Graph& graph) : graph_(graph) {}
  const Names& names() const;
  const Edges& producers() const;
  const Edges& consumers() const;
  std::function<const Edges&()> how_produced() const {
    return [this]() -> const Edges& { return producers(); };
  }
  bool has_names() const { return names_.has_value(); }

 private:
  const Graph& graph_;
  mutable std::optional<Names> names_;
  mutable std::optional<Edges> producers_, consumers_;
};

// What is found out only when a node that has such an attribute is written, since few graphs have any.
class LateFacts {
 public:
  LateFacts() = default;
  LateFacts(const LateFacts&) = delete;
  LateFacts& operator=(const LateFacts&) = delete;
  virtual ~LateFacts() = default;
  // Whether the node lies below a tensor that got another source, so that its `_output_shapes` no longer
  // hold.
  virtual bool stale_shapes(size_t part, NodeId id) const = 0;
};

// One operand.
struct MergePart final : public Mapping {
  MergePart(size_t position, MergeOperand operand);

  const size_t number;  // among the operands
  Model model;
  Registry ops;
  const std::string name;    // "" for an operand without one
  const std::string prefix;  // `NAME/`, or ""
  const ScopeNames scope;
  Identities identities;
  const GraphFacts facts;
  uint32_t base = 0;  // of its nodes in the merged graph

  // Nodes whose new name is not M of the old one: by node, the number behind it (`x_1`), 0 for none; empty
  // where no node has one.
  std::vector<uint32_t> numbers;
  // The same for other names; what names these nodes is in `special`.
  std::unordered_map<std::string_view, std::string> renamed;
  // What the readers of a tensor (`a`, `a:1`, `^a`, as in this file) read instead.
  std::unordered_map<std::string, std::string> replaced;
  // Nodes that need more than the prefix: those that read one of these.
  NodeSet special;
  // Control inputs (node, slot) that another one of the node makes superfluous.
  std::unordered_set<uint64_t> dropped_inputs;
  // Nodes that are not written: nothing needs them, or (`shared`) they are one with an earlier file's, which
  // has their new name.
  NodeSet removed, shared;
  bool written(NodeId id) const { return !removed.has(id) && !shared.has(id); }
  std::unordered_map<std::string, std::string> functions;  // those with another name
  // Other definitions for these, or none at all (empty).
  std::unordered_map<std::string, std::string> changed_functions;
  // These are never one with another operand's, whatever they say: what is known of them elsewhere differs.
  std::unordered_set<std::string> own_functions;
  bool fresh_identities = false;    // they are not the same in the merged graph
  bool name_empty_handles = false;  // a VarHandleOp without a shared_name gets its node's name
  bool surveyed = false;            // `identities` knows all that there are
  bool may_be_stale = false;        // tensors that its nodes read, perhaps through others, got another source
  const LateFacts* late = nullptr;
  std::function<int64_t(int64_t)> fresh_instance_key;  // of an operand that was not surveyed

  const Graph& graph() const { return model.graph(); }
  std::string name_of(std::string_view node) const {
    std::string out;
    this->node(node, out);
    return out;
  }
  // Whether all nodes are written as they are.
  bool verbatim() const;
  // To be called when all is decided.
  void settle();

  void node(std::string_view node, std::string& out) const override;
  const Prefixing* prefixing(NodeId id) const override;
  bool input(const NodeHead& reader, std::string_view input, std::string& out) const override;
  bool colocation(const NodeHead& holder, std::string_view target, std::string& out) const override;
  void identity(const NodeHead& holder, Role role, std::string_view value, std::string& out) const override;
  int64_t instance_key(int64_t key) const override;
  void function(std::string_view function, std::string& out) const override;
  bool maps_functions() const override { return !functions.empty(); }
  bool drops(const NodeHead& holder, std::string_view key) const override;
  void add(const NodeHead& holder, std::string_view node_def, std::string& out) const override;

 private:
  Prefixing prefixing_;
  bool prefixes_ = false;  // what is not a reader needs nothing but the prefix
};

// The names in the messages around an operand's graph.
class MergeNames final : public NameMap {
 public:
  explicit MergeNames(const MergePart& part) : part_(part) {}
  bool map(NameKind kind, std::string_view name, std::string& out) const override;

 private:
  const MergePart& part_;
};

}  // namespace gedit
