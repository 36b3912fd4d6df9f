// Nodes that write variables which become constants: they go, and who read them reads what is behind them
// (docs/rules.md#freeze-writers).
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "edit/changing/frozen_variables.h"
#include "edit/functions/freeze_body.h"

namespace gedit {

class BypassedWriters {
 public:
  // `flow`, from which `writing` is made, knows where the handles of all variables go that may freeze, `kept`
  // where those of the others do. All outlive it.
  BypassedWriters(Facts& facts, const FrozenVariables& variables, const HandleFlow& flow,
                  const HandleFlow& kept, const GraphFreezing& writing);

  // The tensor that stands for `tensor` at a reader, as Closure asks. Throws Error (kRefused) for a node that
  // writes a variable that stays, too.
  std::optional<TensorRef> follow(NodeId reader, TensorRef tensor);

  // Nodes for which readers wait now, since a writer that goes waited for them and variables that stay are
  // written there or before; grows with follow().
  const std::vector<NodeId>& awaited() const { return awaited_; }

  // Readers that stay have the inputs that follow() found.
  void rewire_readers(const NodeSet& stays, Pivots& pivots);

  const std::set<NodeId>& dropped() const { return dropped_; }
  // The variables that become constants and that the node writes.
  std::set<std::string> written_by(NodeId id) const;
  // Nodes that ask whether a variable is initialized that nothing else needs.
  const std::set<NodeId>& asking() const { return asking_; }
  // By node: who reads it since rewire_readers().
  const FrozenVariables::Readers& new_readers() const { return new_readers_; }

 private:
  // Whether the node writes what becomes a constant.
  bool is_dropped(NodeId id) const;

  // The tensor that stands for `tensor` at a reader, where the writers that it comes from go: what is read,
  // or what a control input waits for. Nothing where a control input goes, too.
  std::optional<std::string> behind(std::string tensor, bool control, NodeId reader,
                                    const std::function<bool(NodeId)>& drops) const;

  // What the writer waits for, where it counts: each input, as a reader writes it, and the node.
  std::vector<std::pair<std::string, NodeId>> waits_of(NodeId writer,
                                                       const std::function<bool(NodeId)>& drops) const;

  Facts& facts_;
  const FrozenVariables& variables_;
  const HandleFlow& flow_;
  const GraphFreezing& writing_;
  NodeSet keeps_;   // nodes that write variables that stay
  NodeSet behind_;  // these, calls that may, and what waits for them
  std::set<NodeId> dropped_, asking_;
  std::vector<NodeId> awaited_;
  FrozenVariables::Readers new_readers_;
};

}  // namespace gedit
