// The shapes that the object graph of a TF2 SavedModel says of its functions' arguments and results, from
// which tf.saved_model.load makes signatures (python/saved_model/function_deserialization.py).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/types.h"
#include "model/saved_objects.h"

namespace gedit {

struct FunctionShapes {
  std::vector<Shape> arguments, results;  // of the FunctionDef, captures last
};

// Puts these shapes into the specs of the concrete functions, by name, and into the FunctionSpecs of their
// traces where these said the same. The names of functions whose specs do not stand for the arguments one by
// one: those stay as they are.
std::vector<std::string> set_function_shapes(
    SavedObjects& objects, const std::map<std::string, FunctionShapes, std::less<>>& shapes);

}  // namespace gedit
