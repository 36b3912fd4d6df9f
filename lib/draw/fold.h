// Blocks: scopes side by side that are the same but for the numbers in their names.
#pragma once

#include "draw/sheet.h"

namespace gedit {

// Sets Item::fold and Item::blocks. Scopes whose names differ in numbers alone, and that follow each other in
// their order, are blocks where what is in them agrees one by one: ops,
// devices, attributes but for names of resources and values of tensors, names but for the numbers in them,
// and who reads whom inside. Item k of one block then stands for item k of the other. Linear.
void fold_blocks(Sheet& sheet);

}  // namespace gedit
