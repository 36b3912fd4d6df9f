// Copies in a TF2 SavedModel: its saver's functions and its object graph know them, too
// (docs/rules.md#copy-tf2-savedmodels).
#pragma once

#include "edit/copying/mapping.h"

namespace gedit {

// The functions that save and restore an original gain an argument, a key and a read or an assignment for its
// copy, and the calls of them an input. In the object graph each copied variable, and each table with the
// functions that make and fill it, becomes an object at the path of its key: under child NEW of the root.
// Fills result.keys, values, objects, changed, warnings. Nothing happens where the MetaGraph has no object
// graph. Throws Error (kRefused) where a key or a path is in use.
void extend_objects(Facts& facts, CopyMapping& mapping, CopyChanges& result);

}  // namespace gedit
