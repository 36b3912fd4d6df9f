// Savers that also save and restore the copies: docs/rules.md#copy-savers.
#pragma once

#include "edit/copying/mapping.h"

namespace gedit {

// Every saver that holds an original gains an entry for its copy: key, slice and dtype in its Consts and
// attributes, the saved tensor in the Save node's inputs, and the nodes between the restore and the
// assignment once more, run by the same restore groups. SaverDefs do not change. Fills result.keys, added,
// changed, warnings. Throws Error (kRefused) where a key is in use.
// `values`: a checkpoint is written, which the savers must be able to read.
void extend_savers(const Facts& facts, CopyMapping& mapping, bool values, CopyChanges& result);

}  // namespace gedit
