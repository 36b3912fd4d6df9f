// Tensors inside a branch of a tf.cond of TensorFlow 1: what replaces one must not be there when the branch
// is not taken, or the Merge has two live inputs and chance decides (docs/tensorflow.md#conds).
#pragma once

#include <functional>
#include <optional>

#include "edit/basis/facts.h"
#include "select/tensors.h"

namespace gedit {

// How many conds a tensor lies in: what takes its place for a reader, where something does.
struct Branched {
  TensorRef tensor;  // that was replaced
  NodeId merge;      // that has an input from outside of its cond now
};

// The first such Merge among the nodes, which stay; a loop's are none. `replaced`: whether a Placeholder, or
// what lies in no cond, takes the tensor's place for these nodes. O(nodes above the Merges).
std::optional<Branched> find_unbranched(const Facts& facts, const NodeSet& nodes,
                                        const std::function<bool(const TensorRef&)>& replaced);

// Throws Error (kRefused) where there is one.
void check_branches(const Facts& facts, const NodeSet& nodes,
                    const std::function<bool(const TensorRef&)>& replaced);

}  // namespace gedit
