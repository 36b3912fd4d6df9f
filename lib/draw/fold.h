// Blocks: scopes side by side that are the same but for the numbers in their names.
#pragma once

#include "draw/sheet.h"

namespace gedit {

// Sets Item::fold and Item::blocks. Two scopes are blocks where their names differ in digits alone and what
// is in them agrees: names below the scope, ops, attributes but for names and for values of tensors, and who
// reads whom inside. Item k of one block then stands for item k of the other. A hash finds them; those found are compared
// in full. Linear.
void fold_blocks(Sheet& sheet);

}  // namespace gedit
