// gedit insert: a node behind a tensor, which everything that read the tensor reads instead.
#pragma once

#include <string>
#include <vector>

#include "edit/basis/changes.h"
#include "model/model.h"
#include "ops/registry.h"

namespace gedit {

struct InsertRequest {
  std::string op;
  std::vector<std::string> after;  // tensors: `node:1`, `FN//node:1`, `FN//argument`, `KEY.outputs[y]`
  std::vector<std::string> attrs;  // NAME=VALUE, the value in the listing's form
};

// Edits the selected MetaGraph. Throws Error (kUsage, kRefused), the model then being as it was.
Changes insert(Model& model, Registry& ops, const InsertRequest& request);

}  // namespace gedit
