// gedit set: devices, attributes and shapes of nodes.
#pragma once

#include <string>
#include <vector>

#include "edit/basis/changes.h"
#include "model/model.h"
#include "ops/registry.h"

namespace gedit {

struct SetStep {
  enum class Is { kDevice, kAttr, kShape } is;
  std::string text;  // SEL=DEV; SEL:NAME=VALUE or SEL:NAME; T=SHAPE
};

// Takes the steps in order. Edits the selected MetaGraph, nodes of functions included; `want_changes` fills
// Changes::changed, which holds every name. Throws Error (kUsage, kRefused); the model is then not to be used
// any more.
Changes set(Model& model, Registry& ops, const std::vector<SetStep>& steps, bool want_changes);

}  // namespace gedit
