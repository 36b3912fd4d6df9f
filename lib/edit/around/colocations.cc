#include "edit/around/colocations.h"

#include <string_view>

#include "graph/colocation.h"

namespace gedit {

void shrink_colocations(Graph& graph, const Names& names, const std::function<bool(NodeId)>& stays) {
  const auto goes = [&](std::string_view node) {
    const NodeId id = names.find(node);
    return id == kNoNode || !stays(id);
  };
  const auto node_def = [&](uint32_t i) { return stays(NodeId{i}) ? graph.bytes(NodeId{i}) : ""; };
  for (const auto& [i, left] : shrunk_colocations(graph.size(), node_def, goes))
    graph.replace(NodeId{i}, left);
}

}  // namespace gedit
