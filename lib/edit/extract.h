// gedit extract: the part of a graph that some tensors need, and no more.
#pragma once

#include <string>
#include <vector>

#include "edit/basis/changes.h"
#include "model/model.h"
#include "ops/registry.h"

namespace gedit {

struct ExtractRequest {
  std::vector<std::string> outputs;  // tensors or ops whose closure stays
  std::vector<std::string> inputs;   // where it is cut; T or T:DTYPE[SHAPE]
  bool want_changes = false;         // removed nodes are listed, too
};

// Reduces the selected MetaGraph. Throws Error (kUsage, kRefused).
Changes extract(Model& model, Registry& ops, const ExtractRequest& request);

}  // namespace gedit
