// Everything that tensors need: the nodes reached backwards over data and control inputs
// (docs/rules.md#closure).
#pragma once

#include <functional>
#include <optional>

#include "edit/basis/facts.h"
#include "select/tensors.h"

namespace gedit {

// Grows as nodes are wanted. Costs the inputs of the nodes that it holds.
class Closure {
 public:
  // What takes the place of a tensor that `reader` has as an input; nothing: the walk does not go there.
  using Follow = std::function<std::optional<TensorRef>(NodeId reader, const TensorRef& tensor)>;

  // The facts outlive it. Without `follow` every input is followed.
  explicit Closure(const Facts& facts, Follow follow = {});

  void want(NodeId id);         // the node and all that it needs
  void want_alone(NodeId id);   // the node without its inputs, which the caller decides about
  void want_inputs(NodeId id);  // all that the node reads, the node itself left out

  const NodeSet& nodes() const { return nodes_; }
  // Whether somebody wanted all that the node needs, and so perhaps each of its outputs.
  bool wants_all_of(NodeId id) const { return walked_.has(id); }
  // In the order in which they were added; grows with every call above.
  const std::vector<NodeId>& found() const { return found_; }

 private:
  void walk();

  const Facts& facts_;
  Follow follow_;
  NodeSet nodes_, walked_;
  std::vector<NodeId> found_, stack_;
};

}  // namespace gedit
