// Tensors inside a branch of a tf.cond of TensorFlow 1: what replaces one must not be there when the branch
// is not taken, or the Merge has two live inputs and chance decides (docs/tensorflow.md#conds).
#pragma once

#include <functional>
#include <optional>

#include "edit/basis/facts.h"
#include "select/tensors.h"

namespace gedit {

// What takes a tensor's place for those who read it: nothing where it stays, a tensor of the same graph, or
// one without a node for what lies in no cond of it: a Placeholder, another graph's tensor.
using Replacements = std::function<std::optional<TensorRef>(const TensorRef&)>;
constexpr TensorRef kOutsideOfConds{};

struct Branched {
  TensorRef tensor;  // that was replaced
  NodeId merge;      // that has an input from outside of its cond now
};

// The first such Merge among the nodes, which stay; a loop's are none. O(nodes above the Merges).
std::optional<Branched> find_unbranched(const Facts& facts, const NodeSet& nodes,
                                        const Replacements& replacement);

// Throws Error (kRefused) where there is one. `verb`: what the user should do with another tensor, `cut at`.
void check_branches(const Facts& facts, const NodeSet& nodes, const Replacements& replacement,
                    std::string_view verb = "cut at");

}  // namespace gedit
