// The object graphs of several TF2 SavedModels as one: docs/rules.md#merge-object-graphs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/saved_objects.h"

namespace gedit {

// The object graph of an operand.
struct ObjectPart {
  std::string name;          // of the child of the new root that its root becomes
  SavedObjects objects;      // checked; its function names are those of the merged graph
  uint32_t first_asset = 0;  // where its assets begin in asset_file_def
  std::map<std::string, std::string> signature_keys;  // its signatures' keys, and what they are called now
};

// A SavedObjectGraph with a new root, whose children are the parts' roots and one map of all signatures. A
// single part without a name keeps its root.
std::string join_saved_objects(std::vector<ObjectPart> parts);

}  // namespace gedit
