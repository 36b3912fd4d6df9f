// Shapes in what is told of a graph that the file does not say, and its largest activation
// (docs/rules.md#inspect).
#pragma once

#include "graph/index.h"
#include "model/summary.h"
#include "ops/registry.h"

namespace gedit {

// Larger graphs, functions included, are told of without: inference takes about a microsecond a node.
constexpr uint64_t kMostNodesForShapes = 100'000;

// Fills in the shapes of inputs and outputs, and largest_activation.
void add_inferred_shapes(const GraphIndex& index, Registry& ops, GraphSummary& summary);

}  // namespace gedit
