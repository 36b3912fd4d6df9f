// The savers of TF2 SavedModels: saver_def names calls of functions, and which variable has which key is said
// inside of those (tensorflow_semantics 5.6).
#pragma once

#include <string>
#include <unordered_map>

#include "graph/library.h"
#include "graph/names.h"
#include "model/model.h"

namespace gedit {

// By variable node of the main graph, the key that the functions below the saver's restore op assign to it.
// Empty where the restore op is no call.
std::unordered_map<uint32_t, std::string> keys_in_functions(const MetaGraph& meta, const Names& names,
                                                            Library& library);

}  // namespace gedit
