// A signature that a MetaGraph gains.
#pragma once

#include <string>
#include <vector>

#include "edit/basis/changes.h"
#include "model/model.h"
#include "ops/registry.h"

namespace gedit {

struct NewSignature {
  std::string key;
  std::vector<std::string> inputs, outputs;  // K=T; of a sparse tensor K=values;indices;shape
  std::string method = "tensorflow/serving/predict";
};

// Edits the selected MetaGraph, and in a TF2 SavedModel its object graph; a GraphDef becomes a MetaGraphDef.
// An output may be `FN//node:k`, a tensor inside a function. Throws Error (kUsage, kRefused); the model is
// then not to be used any more.
Changes add_signature(Model& model, Registry& ops, const NewSignature& signature);

}  // namespace gedit
