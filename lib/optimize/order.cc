#include "optimize/order.h"

#include <functional>
#include <queue>

#include "graph/edges.h"
#include "graph/library.h"
#include "graph/names.h"
#include "graph/wiring.h"

namespace gedit::optimizing {
namespace {

// Edges of a body name the output, too; what counts is the node.
std::vector<std::vector<uint32_t>> read_by(const Graph& graph) {
  const Names names(graph);
  std::vector<std::vector<uint32_t>> reads(graph.size());
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (graph.removed(NodeId{i})) continue;
    const bool merge = graph.is(NodeId{i}, OpKind::kMerge);
    each_input(graph.bytes(NodeId{i}), [&](std::string_view text) {
      const NodeId from = names.find(parse_input_of(graph, text).node);
      if (from == kNoNode || (merge && graph.is(from, OpKind::kNextIteration))) return;
      reads[i].push_back(index_of(from));
    });
  }
  return reads;
}

bool sort_graph(Graph& graph) {
  const std::vector<std::vector<uint32_t>> reads = read_by(graph);
  std::vector<std::vector<uint32_t>> readers(graph.size());
  std::vector<uint32_t> waits(graph.size());
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  std::vector<uint32_t> places;
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (graph.removed(NodeId{i})) continue;
    places.push_back(i);
    waits[i] = static_cast<uint32_t>(reads[i].size());
    for (const uint32_t from : reads[i]) readers[from].push_back(i);
    if (reads[i].empty()) ready.push(i);
  }
  std::vector<uint32_t> order;
  while (!ready.empty()) {
    const uint32_t next = ready.top();
    ready.pop();
    order.push_back(next);
    for (const uint32_t reader : readers[next]) {
      if (--waits[reader] == 0) ready.push(reader);
    }
  }
  // A cycle that is no loop stays as it is, behind all others.
  for (const uint32_t place : places) {
    if (waits[place] > 0) order.push_back(place);
  }
  if (order == places) return false;
  std::vector<std::string_view> bytes;
  for (const uint32_t i : order) bytes.push_back(graph.bytes(NodeId{i}));
  for (size_t k = 0; k < places.size(); ++k) {
    if (order[k] != places[k]) graph.replace(NodeId{places[k]}, std::string(bytes[k]));
  }
  return true;
}

}  // namespace

bool sort_nodes(Model& model) {
  Graph& graph = model.graph();
  bool changed = sort_graph(graph);
  const std::string_view bytes = graph.part(graph_field::kLibrary);
  if (bytes.empty()) return changed;
  Library library = Library::decode(bytes, model.arena);
  bool bodies = false;
  for (Function& function : library.functions) {
    function.body.decode();
    bodies = sort_graph(function.body) || bodies;
  }
  if (bodies) graph.set_part(graph_field::kLibrary, library.encode());
  return changed || bodies;
}

}  // namespace gedit::optimizing
