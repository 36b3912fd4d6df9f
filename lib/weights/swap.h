// Variables take the values of other tensors of the checkpoint, such as their moving averages: the index
// alone changes. docs/rules.md#checkpoint-swap
#pragma once

#include <string_view>

#include "checkpoint/bundle.h"
#include "checkpoint/edit.h"

namespace gedit {

// Each NAME for which there is NAME + `suffix` takes its value; with `both` that one takes NAME's. Throws
// Error (kRefused) where there is none, or two differ in type or shape.
void swap_values(Checkpoint& checkpoint, std::string_view suffix, bool both, KeyChanges* changes = nullptr);

}  // namespace gedit
