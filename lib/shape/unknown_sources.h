// Where sizes that are not known begin.
#pragma once

#include <cstdint>
#include <vector>

#include "shape/infer.h"

namespace gedit {

// Whether it is known to its last dimension.
bool all_known(const Shape& shape);

struct UnknownSource {
  NodeId node = kNoNode;
  uint32_t output = 0;
};

// The tensors that are read upstream of `readers`, main graph's nodes, whose shapes are not known though
// those of all that their nodes read are: placeholders, and what depends on values. Once these are told, what
// follows from them is known. In the order of the nodes; around loops it goes by what enters. Time in
// proportion to what is upstream.
std::vector<UnknownSource> unknown_sources(const Graph& graph, const GraphShapes& shapes,
                                           const std::vector<NodeId>& readers);

}  // namespace gedit
