// Nodes behind what they read (docs/rules.md#optimize-sort).
#pragma once

#include "model/model.h"

namespace gedit::optimizing {

// Of the selected graph and the bodies of its functions: each node behind what it reads, but for what goes
// back into a loop; of those that may come next the one that stood first. Whether any moved.
bool sort_nodes(Model& model);

}  // namespace gedit::optimizing
