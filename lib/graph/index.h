// What every pass over a graph asks, found once: which node has a name, whom a node reads, who reads it.
//
//   graph.decode();
//   const GraphIndex index(graph);
//   index.names().find("a/b");       // the node, or kNoNode
//   index.producers().of(id);        // whom it reads; readers(): who reads it
//
// What a node is, the graph itself tells without a look at its record: hash(id) of its name, op(id),
// kinds(id), is(id, OpKind::kConst); and what a pass wants to know of an op it finds once for all nodes of
// it, by OpsOf. So a pass looks at records for names, attributes and spelled inputs alone.
#pragma once

#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "graph/edges.h"
#include "graph/graph.h"
#include "graph/names.h"

namespace gedit {

// A value: it tells of the graph as it was when it was made, and nothing keeps it up to date. The graph
// outlives it. 8 bytes a node for names, 8 and 4 for every input for producers(), as much for readers().
class GraphIndex {
 public:
  // The graph is decoded. About 40 ns a node, of which all cores share the half.
  explicit GraphIndex(const Graph& graph);

  const Graph& graph() const { return graph_; }
  const Names& names() const { return names_; }
  const Edges& producers() const { return producers_; }
  // Made on the first call, which is in one thread.
  const Edges& readers() const;

 private:
  const Graph& graph_;
  Names names_;
  Edges producers_;
  mutable std::unique_ptr<const Edges> readers_;
};

// What `table.of(op)` tells of the op of a node, asked once for each op: afterwards it costs a look at a
// number. `Table::of()` gives a reference that stays valid.
template <typename Table>
class OpsOf {
 public:
  using Info = std::remove_reference_t<decltype(std::declval<Table&>().of(std::string_view()))>;

  // Both outlive it. After it was made it changes nothing, so several threads may ask.
  OpsOf(const Graph& graph, Table& table) : graph_(graph), table_(table) {
    for (OpNumber number = 0; number < graph.ops().size(); ++number)
      known_.push_back(&table.of(graph.ops().op(number)));
  }
  Info& of(NodeId id) const {
    const OpNumber number = graph_.op_number(id);
    return number < known_.size() ? *known_[number] : table_.of(graph_.op(id));
  }

 private:
  const Graph& graph_;
  Table& table_;
  std::vector<Info*> known_;
};

}  // namespace gedit
