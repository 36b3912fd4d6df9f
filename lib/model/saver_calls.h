// Savers that are calls of functions: a TF2 SavedModel saves and restores by functions that its main graph
// calls with the variables (docs/tensorflow.md#savers-in-functions).
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"
#include "graph/library.h"
#include "graph/names.h"
#include "model/model.h"

namespace gedit {

// The calls that saver_def's operations are, or group: after a merge one NoOp runs the restore calls of all
// parts. `groups` gains the NoOps on the way.
std::vector<NodeId> saver_calls(const MetaGraph& meta, const Names& names, const Library& library,
                                std::vector<NodeId>* groups = nullptr);

// By variable node of the main graph, the key that the functions below the saver's restore op assign to it.
// Empty where the restore op is no call and groups none.
std::unordered_map<uint32_t, std::string> keys_in_functions(const MetaGraph& meta, const Names& names,
                                                            Library& library);

}  // namespace gedit
