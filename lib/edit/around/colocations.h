// Who is to stay beside a node that goes.
#pragma once

#include <functional>

#include "graph/graph.h"
#include "graph/names.h"

namespace gedit {

// Nodes that stay lose the entries of `_class` that name a node which does not, or which is not there
// (docs/rules.md#extract). `stays` is asked on all cores.
void shrink_colocations(Graph& graph, const Names& names, const std::function<bool(NodeId)>& stays);

}  // namespace gedit
