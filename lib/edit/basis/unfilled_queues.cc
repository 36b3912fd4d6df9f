#include "edit/basis/unfilled_queues.h"

#include "base/error.h"
#include "graph/types.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// What takes the queue and something else and gives nothing puts that into it.
bool fills_queue(const Facts& facts, NodeId id) {
  const std::string_view node_def = facts.graph().bytes(id);
  const auto takes = input_types(facts.ops, node_def), gives = output_types(facts.ops, node_def);
  return takes && gives && takes->size() > 1 && gives->empty();
}

}  // namespace

std::string unfilled_queues(const Facts& facts, const std::vector<NodeId>& nodes,
                            const std::function<bool(NodeId)>& stays, std::string& first) {
  size_t count = 0;
  for (const NodeId id : nodes) {
    if (!facts.graph().is(id, OpKind::kQueue)) continue;
    bool filled = false, left = false;
    for (const NodeId reader : facts.consumers().of(id)) {
      if (!fills_queue(facts, reader)) continue;
      filled = true;
      left = left || stays(reader);
    }
    if (filled && !left && count++ == 0) first = printable(facts.graph().name(id));
  }
  if (count == 0) return "";
  return (count == 1 ? "queue '" : std::to_string(count) + " queues, first '") + first + "'";
}

}  // namespace gedit
