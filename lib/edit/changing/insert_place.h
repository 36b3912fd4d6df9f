// What `gedit insert` edits at one place, the main graph or a function's body: its tensors, and behind them
// the new nodes (docs/rules.md#insert).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "edit/basis/facts.h"
#include "edit/basis/names.h"
#include "edit/changing/inserted_op.h"
#include "graph/library.h"

namespace gedit {

// A tensor that something is inserted behind.
struct InsertedBehind {
  std::string written;  // for messages
  NodeId node = kNoNode;
  std::string name, device;  // of the node, or the name of a function's argument
  uint32_t index = 0;
  std::string port;  // in a function: `z:0`; empty for an argument
  DType type = DType::kInvalid;
  std::string source;       // as the new node reads it
  std::string replacement;  // as the readers read the new node
  std::string inserted;     // the new node's name
  DType gives = DType::kInvalid;
  bool past_reads = false;  // a reference: Identities that read it keep it, since a node stands behind each
};

class InsertPlace {
 public:
  // All outlive it; `function` is empty for the main graph. What it knows of the graph is from before the
  // edit.
  InsertPlace(Model& model, Registry& ops, Graph& graph, std::string_view function, const InsertedOp& op,
              const FunctionDefs& functions);

  Graph& graph() const { return graph_; }
  Registry& ops() const { return ops_; }
  const InsertedOp& op() const { return op_; }
  const std::string& function() const { return function_; }
  const OpDef& signature() const { return signature_; }  // of a body's function
  const Facts* facts() const { return facts_.get(); }    // of the main graph, else null
  const Names& names() const { return facts_ ? facts_->names() : *own_names_; }
  Edges consumers() const;
  const std::vector<InsertedBehind>& targets() const { return targets_; }

  // `text`: within the place; `written`: as the user wrote it. Throws Error (kUsage, kRefused) where there is
  // no such tensor, or nothing can stand behind it.
  void add_target(const std::string& written, std::string_view text);

  // The same, in the main graph, for a tensor that may be there already.
  void add_read(const TensorRef& tensor, bool past_reads);

  // Names and makes the new nodes, in the order of the targets.
  std::vector<std::string> make_nodes();

  // The target that an input of a node of the place reads; null for none.
  const InsertedBehind* target_of(const Input& input) const;

  // Throws Error (kRefused) where what the new node gives is not `wanted`; `reader` goes into the message.
  void check_fits(const InsertedBehind& target, DType wanted, const std::string& reader) const;

 private:
  InsertedBehind find_in_graph(std::string_view text) const;
  InsertedBehind behind(const TensorRef& tensor) const;
  const InsertedBehind* find_target(const InsertedBehind& target) const;
  void add(InsertedBehind target);
  InsertedBehind find_in_body(std::string_view text) const;
  void reserve_inlined(NewNames& fresh) const;
  std::string make(InsertedBehind& target, NewNames& fresh);

  Model& model_;
  Registry& ops_;
  Graph& graph_;
  const std::string function_;
  const InsertedOp& op_;
  const FunctionDefs& functions_;
  std::unique_ptr<Facts> facts_;    // of the main graph
  std::optional<Names> own_names_;  // of a body
  OpDef signature_;
  std::vector<InsertedBehind> targets_;
  std::multimap<std::string, size_t, std::less<>> by_name_;  // of targets_
};

}  // namespace gedit
