// What becomes of a checkpoint's keys where variables are renamed (docs/rules.md#rename-checkpoint-keys).
#pragma once

#include "edit/changing/rename_rules.h"
#include "edit/savers/checkpoint_keys.h"
#include "model/model.h"

namespace gedit {

// The keys that are the name of a variable which the rules rename, and what they become.
KeyMap renamed_keys(Model& model, const RenameRules& rules);

}  // namespace gedit
