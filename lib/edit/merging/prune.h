// What only the mapped-away tensors needed: docs/rules.md#merge-prune.
#pragma once

#include <vector>

#include "edit/merging/around.h"
#include "edit/merging/inputs.h"

namespace gedit {

// Removes the producers of KEYs that no node, signature, collection, saver or object names
// any more, and so on upwards. `meta` is what surrounds the merged graph, `new_nodes` are added to it.
void prune_keys(MergeParts& parts, const MergedNames& names, const InputMap& inputs, const MetaGraph& meta,
                const NewNodes& new_nodes);

}  // namespace gedit
