#include "edit/savers/assigned.h"

#include "graph/wiring.h"
#include "ops/kinds.h"

namespace gedit {

std::vector<std::pair<NodeId, uint32_t>> assigned_by(const Facts& facts, NodeId restore) {
  const Graph& graph = facts.graph();
  std::vector<std::pair<NodeId, uint32_t>> assigned;
  for (const NodeId reader : facts.consumers().of(restore)) {
    if (!is(node_op(graph.bytes(reader)), OpKind::kWritesVariable)) continue;
    const std::vector<std::string_view> inputs = input_views(graph.bytes(reader));
    const Input value = inputs.size() < 2 ? Input() : parse_input(inputs[1]);
    if (value.node != graph.name(restore)) continue;
    const NodeId variable = variable_behind(graph, facts.names(), inputs[0]);
    if (variable != kNoNode) assigned.emplace_back(variable, value.index());
  }
  return assigned;
}

}  // namespace gedit
