// Edges across the border of a loop of TensorFlow 1, which no session runs: what stands in for a tensor has
// to be in the same iteration as the tensor (docs/tensorflow.md#loop-frames).
#pragma once

#include <string_view>

#include "edit/basis/facts.h"

namespace gedit {

// A tensor of a graph, as the user knows it; without a node where it is an argument.
struct LoopTensor {
  const Facts& facts;
  NodeId node;
  std::string_view name;
};

// Throws Error (kRefused) where one of them is in a loop in which the other is not. `together`: they are in
// one graph, or in one copy of it. O(1) where neither graph has a loop.
void check_loops(const LoopTensor& key, const LoopTensor& value, bool together);

}  // namespace gedit
