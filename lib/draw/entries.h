// Where a reader of a TensorFlow 2 model begins: the functions that its signatures call.
#pragma once

#include <cstddef>
#include <vector>

#include "graph/library.h"
#include "model/model.h"

namespace gedit {

// Positions in the library, each once, in the order of the signatures' keys but serving_default's first. Of a
// function that does nothing but call another one, the other one. Empty where no signature is a call.
std::vector<size_t> entry_functions(const Model& model, Library& library);

}  // namespace gedit
