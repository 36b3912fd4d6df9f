// What a graph says around its nodes of the TensorFlow that wrote it, and what names its tensors.
#pragma once

#include <set>
#include <string>

#include "edit/retargeting/graph_pass.h"
#include "model/model.h"
#include "ops/history.h"

namespace gedit {

// All nodes and tensors of the main graph that signatures, collections, savers and assets name, as they write
// them.
std::set<std::string, std::less<>> named_around(const MetaGraph& meta);

// versions.producer becomes the release's where it is above it; tensorflow_version the release's name; and
// stripped_op_list, where there is one, what the release says of the ops that are in the graph and its
// functions.
void set_release(MetaGraph& meta, ReleaseNumber release);

// Notes and warnings for the user.
void describe_tally(const RetargetTally& tally, const Release& release, std::vector<std::string>& notes,
                    std::vector<std::string>& warnings);

}  // namespace gedit
