// Nodes and functions that have another name in the second graph and are otherwise the same.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "diff/nodes.h"
#include "diff/scopes.h"
#include "graph/library.h"
#include "graph/names.h"

namespace gedit {

// Nodes that only one of the graphs has by name, told by what they are, what they read and who reads them.
// A guess where several are alike; whoever asks compares them. `names` has a function's arguments. Linear in
// the graphs.
std::vector<std::pair<NodeId, NodeId>> find_renamed_nodes(const Graph& before, const Graph& after,
                                                          const Matched& matched, const RenamedScopes& names);

// Functions that only one library has by name, whose names are the same but for numbers at the end and whose
// ops are the same: each export counts on. Names of before and of after, in the order of before.
std::vector<std::pair<std::string, std::string>> find_renumbered_functions(const Library& before,
                                                                           const Library& after);

}  // namespace gedit
