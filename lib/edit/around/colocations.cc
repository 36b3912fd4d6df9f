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
  std::vector<std::vector<std::pair<NodeId, std::string>>> left(pieces_of(graph.size()));
  in_pieces(graph.size(), [&](size_t piece, PieceRange nodes) {
    for (uint32_t i = nodes.begin; i < nodes.end; ++i) {
      const NodeId id{i};
      if (!stays(id)) continue;
      if (auto node_def = without_colocations(graph.bytes(id), goes))
        left[piece].emplace_back(id, std::move(*node_def));
    }
  });
  for (auto& nodes : left) {
    for (auto& [id, node_def] : nodes) graph.replace(id, node_def);
  }
}

}  // namespace gedit
