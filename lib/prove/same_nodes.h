// What one graph has as the other has it, found node by node: of a graph that was made of another one, most
// nodes are the same bytes that read the same nodes, and nothing of them needs to be numbered.
#pragma once

#include "graph/index.h"
#include "prove/prove.h"

namespace gedit {

// Whether all outputs are the same in both because every node that they need is: B has it at the same place
// under the same name, of the same op and attributes, and each input gives what A reads there: the same
// tensor, or one that in A is the same by what only passes values on, by constants, or by what a few equal
// nodes make of the same. B is compared as it is, whatever it was made by. False says nothing.
//
// Only of graphs that give what follows from constants and placeholders by ops without state, effects,
// branches and functions. `index` is of A's graph, or of an equal one. About 30 ns a node, on all cores.
bool same_by_nodes(const ProofSide& a, const GraphIndex& index, const ProofSide& b,
                   const ProofRequest& request);

}  // namespace gedit
