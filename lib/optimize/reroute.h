// One edge, from another tensor (docs/rules.md#optimize-reroute).
#pragma once

#include <string>

#include "model/model.h"
#include "ops/registry.h"

namespace gedit::optimizing {

// `edge`: NODE:K=T, input K of NODE reads T from then on. What it says of that, as a reason why values are
// others. Throws Error (kUsage, kRefused): there is no such input, T is of another type.
std::string reroute(Model& model, Registry& ops, const std::string& edge);

}  // namespace gedit::optimizing
