// Shapes as inference has them, written into a graph: `_output_shapes` of its nodes and of its functions'
// (docs/rules.md#shapes-written).
#pragma once

#include <string>
#include <vector>

#include "graph/library.h"
#include "shape/infer.h"

namespace gedit {

// The value of an attribute: list(shape).
std::string shapes_value(const std::vector<Shape>& shapes);
// Shapes of all outputs of a node; nothing where it is not known how many it has.
std::optional<std::vector<Shape>> all_shapes(const GraphShapes& shapes, Registry& ops, NodeId id,
                                             std::string_view node_def);

// Gives every node that has outputs this attribute, in the library's bodies, too, and puts the library back
// into the graph. The inference is of the graph as it was. What has as many outputs as nobody knows keeps
// what it has. The number of nodes that changed.
uint64_t write_output_shapes(Graph& graph, Registry& ops, Inference& inference);

}  // namespace gedit
