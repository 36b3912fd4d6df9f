// gedit merge: several graphs as one.
//
// Nodes are written from where they lie, each through the mapping of its file (merging/operand.h): a prefix,
// and a short table of what else changes. What stands around the graphs is united message by message.
#pragma once

#include "edit/merging/request.h"

namespace gedit {

// The operand of the richest kind, the first of several: SavedModel (with a folder, without), MetaGraphDef,
// GraphDef.
size_t richest(const std::vector<MergeOperand>& operands);

// The model views the operands, which it keeps. Throws Error (kUsage, kInput, kRefused).
MergeResult merge(std::vector<MergeOperand> operands, const MergeRequest& request);

}  // namespace gedit
