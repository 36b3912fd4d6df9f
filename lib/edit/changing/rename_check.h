// Whether names can be what a rename makes of them (docs/rules.md#rename-pairs).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edit/changing/rename_rules.h"
#include "graph/graph.h"
#include "ops/registry.h"

namespace gedit {

using RenamedNodes = std::vector<std::pair<std::string, std::string>>;  // old and new name

// Whether a rename of single nodes hits every one once, to names that nobody has, and none of them is state
// that has its name: then nothing else is to be checked. Takes a look at every name, decoded or not, and
// needs no table of them: 10 ns a node.
bool renames_plainly(const Graph& graph, const RenameRules& rules);

// Checks that every pair hits something and that the new names are names and differ, also from `arguments`;
// `renamed`, where it is given, gains what changes. Throws Error (kRefused). The graph is decoded.
void check_renamed(const Graph& graph, const RenameRules& rules,
                   const std::vector<std::string_view>& arguments, RenamedNodes* renamed);

// Checks that every function that is renamed exists, and that no two functions, nor a function and an op, end
// up with one name. Throws Error (kRefused).
void check_renamed_functions(std::string_view library, Registry& ops, const std::vector<OldNew>& pairs);

}  // namespace gedit
