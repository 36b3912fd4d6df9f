// What became of what by a copy, and what is to be heard of it.
#pragma once

#include "edit/copying/reads.h"

namespace gedit {

// Fills result.nodes, variables, values, outputs, frames, warnings, once all names are decided.
void describe(const CopyReads& reads, const CopyRequest& request, CopyChanges& result);

}  // namespace gedit
