// Signatures whose inputs are other tensors after an edit.
#pragma once

#include <string>
#include <unordered_map>

#include "model/model.h"

namespace gedit {

// In all signatures, an input that is a key of `tensors` becomes its value. Both are written as a graph's
// inputs write them: `n`, `n:1`.
void map_signature_inputs(MetaGraph& meta, const std::unordered_map<std::string, std::string>& tensors);

}  // namespace gedit
