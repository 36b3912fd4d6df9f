#include "edit/basis/unfilled.h"

#include <algorithm>

#include "base/error.h"
#include "graph/types.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

struct Holder {
  OpKind op;
  std::string_view kind, outcome;
};

constexpr Holder kHolders[] = {{OpKind::kQueue, "queue", "waits for ever"},
                               {OpKind::kTable, "table", "fails or finds nothing"},
                               {OpKind::kIterator, "iterator", "fails"}};

// What takes the queue, table or iterator and something else and gives nothing puts that into it.
bool fills(const Facts& facts, NodeId id) {
  const std::string_view node_def = facts.graph().bytes(id);
  const auto takes = input_types(facts.ops, node_def), gives = output_types(facts.ops, node_def);
  return takes && gives && takes->size() > 1 && gives->empty();
}

}  // namespace

std::vector<NodeId> fillers_of(const Facts& facts, NodeId holder) {
  std::vector<NodeId> fillers;
  for (const NodeId reader : facts.handle_readers(holder)) {
    if (fills(facts, reader)) fillers.push_back(reader);
  }
  // Calls of functions fill tables, too.
  if (!facts.graph().is(holder, OpKind::kTable)) return fillers;
  const auto state = facts.state().find(index_of(holder));
  if (state != facts.state().end())
    fillers.insert(fillers.begin(), state->second.satellites.begin(), state->second.satellites.end());
  return fillers;
}

std::string Unfilled::what() const {
  const std::string name = " '" + printable(first) + "'";
  if (count == 1) return std::string(kind) + name;
  return std::to_string(count) + " " + std::string(kind) + "s, first" + name;
}

std::vector<Unfilled> unfilled(const Facts& facts, const std::vector<NodeId>& nodes,
                               const std::function<bool(NodeId)>& stays) {
  const Graph& graph = facts.graph();
  std::vector<Unfilled> all;
  for (const Holder& holder : kHolders) all.push_back({holder.kind, holder.outcome, 0, "", ""});
  std::vector<NodeId> holders;
  for (const NodeId id : nodes) {
    if (graph.is(id, OpKind::kQueue | OpKind::kTable | OpKind::kIterator)) holders.push_back(id);
  }
  std::ranges::sort(holders);
  for (const NodeId id : holders) {
    const std::vector<NodeId> fillers = fillers_of(facts, id);
    if (fillers.empty() || std::ranges::any_of(fillers, stays)) continue;
    const auto of_kind =
        std::ranges::find_if(kHolders, [&](const Holder& one) { return graph.is(id, one.op); });
    Unfilled& found = all[static_cast<size_t>(of_kind - std::begin(kHolders))];
    if (found.count++ > 0) continue;
    found.first = graph.name(id);
    found.filler = graph.name(fillers.front());
  }
  std::erase_if(all, [](const Unfilled& found) { return found.count == 0; });
  return all;
}

}  // namespace gedit
