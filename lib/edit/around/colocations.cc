#include "edit/around/colocations.h"

#include <string>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "graph/colocation.h"

namespace gedit {

void shrink_colocations(Graph& graph, const Names& names, const std::function<bool(NodeId)>& stays) {
  const auto goes = [&](std::string_view node) {
    const NodeId id = names.find(node);
    return id == kNoNode || !stays(id);
  };
  const auto shrink = [&](PieceRange nodes) {
    std::vector<std::pair<NodeId, std::string>> left;
    for (uint32_t i = nodes.begin; i < nodes.end; ++i) {
      const NodeId id{i};
      if (!stays(id)) continue;
      if (auto node_def = without_colocations(graph.bytes(id), goes))
        left.emplace_back(id, std::move(*node_def));
    }
    return left;
  };
  for (const auto& nodes : made_in_pieces(graph.size(), shrink)) {
    for (auto& [id, node_def] : nodes) graph.replace(id, node_def);
  }
}

}  // namespace gedit
