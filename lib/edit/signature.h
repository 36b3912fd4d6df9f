// gedit signature: the signatures of a MetaGraph, added, renamed and removed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "edit/changing/new_signature.h"
#include "model/model.h"
#include "ops/registry.h"

namespace gedit {

// All of them, add_signature() too, edit the selected MetaGraph, and in a TF2 SavedModel its object graph, so
// that tf.saved_model.load agrees. Throw Error (kUsage, kRefused); the model is then not to be used any more.

// OLD=NEW: OLD is a key, `KEY.inputs[x]` or `KEY.outputs[y]`, NEW the bare name; all at once.
Changes rename_signatures(Model& model, Registry& ops, const std::vector<std::string>& pairs);

Changes remove_signatures(Model& model, const std::vector<std::string>& keys);

}  // namespace gedit
