#include "shape/unknown_sources.h"

#include <algorithm>
#include <set>
#include <utility>

#include "graph/names.h"
#include "graph/node.h"
#include "ops/kinds.h"

namespace gedit {

bool all_known(const Shape& shape) {
  return shape && std::ranges::all_of(*shape, [](int64_t dim) { return dim >= 0; });
}

std::vector<UnknownSource> unknown_sources(const Graph& graph, const GraphShapes& shapes,
                                           const std::vector<NodeId>& readers) {
  const Names names(graph);
  std::vector<bool> seen(graph.size());
  std::vector<NodeId> open;
  for (const NodeId id : readers) {
    if (seen[index_of(id)]) continue;
    seen[index_of(id)] = true;
    open.push_back(id);
  }
  std::set<std::pair<uint32_t, uint32_t>> read;  // outputs whose shapes are not known
  std::vector<bool> begins(graph.size());
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    bool begins_here = true;
    each_input(graph.bytes(id), [&](std::string_view text) {
      const Input input = parse_input(text);
      const NodeId producer = input.control ? kNoNode : names.find(input.node);
      if (producer == kNoNode || all_known(shapes.shape(producer, input.index()))) return;
      if (is_next_iteration_op(node_op(graph.bytes(producer)))) return;  // it follows from what enters
      begins_here = false;
      read.emplace(index_of(producer), input.index());
      if (seen[index_of(producer)]) return;
      seen[index_of(producer)] = true;
      open.push_back(producer);
    });
    begins[index_of(id)] = begins_here;
  }
  std::vector<UnknownSource> found;
  for (const auto& [node, output] : read) {
    if (begins[node]) found.push_back({NodeId{node}, output});
  }
  return found;
}

}  // namespace gedit
