// Who names functions around the graph, and which are called at all, from the graph or from Python.
#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

#include "graph/edges.h"
#include "graph/function_names.h"
#include "model/model.h"

namespace gedit {

// For each function of the library whether the graph reaches it: as an op, in an attribute, as a gradient, or
// named by the object graph; through other functions too. With `roots`, from these nodes alone.
std::vector<bool> called_functions(const MetaGraph& meta, const Library& library,
                                   const NodeSet* roots = nullptr);

// The same, with those that stand in for what is called: the gradients' functions that attributes name,
// either way, and alternatives of one `api_implements` (grappler's implementation_selector.cc).
std::vector<bool> called_or_alternative(const MetaGraph& meta, const Library& library);

// The functions for which meta_info_def has an alias.
std::unordered_set<std::string_view> aliased_functions(const MetaGraph& meta);

}  // namespace gedit
