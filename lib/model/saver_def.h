// SaverDefs: which nodes of a graph are run to save and restore it (tensorflow/core/protobuf/saver.proto).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/names.h"
#include "model/model.h"

namespace gedit {

// What it says; the names as they stand there, views into it.
struct SaverDef {
  std::string_view filename, save, restore;  // a tensor, a tensor and an operation
  bool sharded = false;
  uint64_t version = 0;  // 0: legacy, 1: V1, 2: V2
};
SaverDef parse_saver_def(std::string_view bytes);
std::string saver_def_bytes(const SaverDef& def);
// The nodes that it names, in its order; kNoNode where it names none or there is no such node.
struct SaverDefNodes {
  NodeId filename = kNoNode, save = kNoNode, restore = kNoNode;
};
SaverDefNodes saver_def_nodes(std::string_view bytes, const Names& names);
// The SaverDefs of a MetaGraph: saver_def, then those of the collection `savers`.
std::vector<std::string_view> saver_defs(const MetaGraph& meta);

}  // namespace gedit
