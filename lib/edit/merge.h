// gedit merge: several graphs as one.
//
// Nodes are written from where they lie, each through the mapping of its file (merging/operand.h): a prefix,
// and a short table of what else changes. What stands around the graphs is united message by message.
#pragma once

#include "edit/merging/request.h"
#include "edit/merging/whole.h"

namespace gedit {

// Its operands are several models, each with what is known of its ops, and what comes of them is a new one:
// so it has a shape of its own among the edits. The model views the operands, which it keeps. Throws Error
// (kUsage, kInput, kRefused).
MergeResult merge(std::vector<MergeOperand> operands, const MergeRequest& request);

}  // namespace gedit
