// Where an edit works: the main graph, or the body of a library function (`FUNCTION//node`).
#pragma once

#include <string>
#include <string_view>

#include "graph/edges.h"
#include "graph/graph.h"
#include "graph/library.h"
#include "graph/names.h"
#include "graph/wiring.h"
#include "select/tensors.h"

namespace gedit {

// Throws Error (kRefused) with the nearest name where there is no such function.
Function& find_function(Library& library, std::string_view name);

// Drops `_output_shapes` from these nodes and from all downstream, since TensorFlow refuses at import what no
// longer holds (docs/rules.md#inferred-shapes). `consumers` are the graph's. The number of nodes that had
// one.
size_t drop_output_shapes(Graph& graph, const Edges& consumers, const NodeSet& nodes);

}  // namespace gedit
