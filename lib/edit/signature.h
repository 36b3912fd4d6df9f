// gedit signature: the signatures of a MetaGraph, added, renamed and removed.
#pragma once

#include <string>
#include <string_view>
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

// All of them edit the selected MetaGraph, and in a TF2 SavedModel its object graph, so that
// tf.saved_model.load agrees. Throw Error (kUsage, kRefused); the model is then not to be used any more.

// A GraphDef becomes a MetaGraphDef. An output may be `FN//node:k`, a tensor inside a function.
Changes add_signature(Model& model, Registry& ops, const NewSignature& signature);

// OLD=NEW: OLD is a key, `KEY.inputs[x]` or `KEY.outputs[y]`, NEW the bare name; all at once.
Changes rename_signatures(Model& model, Registry& ops, const std::vector<std::string>& pairs);

Changes remove_signatures(Model& model, const std::vector<std::string>& keys);

}  // namespace gedit
