// The constants of a graph as weights.
#pragma once

#include <memory>

#include "model/model.h"
#include "weights/weights.h"

namespace gedit {

// The Consts of the selected graph; those of functions as `FUNCTION//NODE`. Throws Error (kInput).
Weights graph_weights(std::shared_ptr<const Model> model);

}  // namespace gedit
