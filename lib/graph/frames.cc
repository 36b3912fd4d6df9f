#include "graph/frames.h"

#include <map>

#include "graph/node.h"
#include "ops/kinds.h"

namespace gedit {
bool is_constant_enter(std::string_view node_def) {
  const auto constant = find_attr(node_def, "is_constant");
  return is_enter_op(node_op(node_def)) && constant && last_varint(*constant, attr_field::kBool) != 0;
}

NodeSet moving_nodes(const Graph& graph, const Edges& consumers) {
  constexpr OpKinds kMoving = OpKinds(OpKind::kEnter) | OpKind::kMerge | OpKind::kSwitch |
                              OpKind::kNextIteration | OpKind::kExit | OpKind::kLoopCond;
  NodeSet moving(graph.size());
  std::vector<NodeId> open;
  const auto move = [&](NodeId id) {
    if (moving.add(id)) open.push_back(id);
  };
  graph.each_of(kMoving, [&](NodeId id) {
    if (!graph.is(id, OpKind::kEnter) || !is_constant_enter(graph.bytes(id))) move(id);
  });
  while (!open.empty()) {
    const NodeId at = open.back();
    open.pop_back();
    for (const NodeId reader : consumers.of(at)) {
      if (!graph.is(reader, OpKind::kEnter)) move(reader);
    }
  }
  return moving;
}

Frames::Frames(const Graph& graph, const Edges& producers)
    : Frames(graph, producers, graph.has_any(OpKind::kEnter)) {}

Frames::Frames(const Graph& graph, const Edges& producers, bool loops) {
  if (!loops) return;

  // A node runs where any of its inputs comes from; whoever reads nothing runs in the root. Spread from
  // there.
  constexpr uint32_t kUnknown = 0xffffffff;
  of_.assign(graph.size(), kUnknown);
  exits_.assign(graph.size(), false);
  const Edges consumers = reversed(producers);
  std::map<std::pair<uint32_t, std::string_view>, uint32_t> known;
  std::vector<NodeId> ready;
  const auto reach = [&](NodeId id, uint32_t from) {  // the frame in which it reads
    if (graph.is(id, OpKind::kEnter)) {
      const std::string_view name = string_attr(graph.bytes(id), "frame_name").value_or("");
      const auto [found, fresh] = known.emplace(std::pair{from, name}, static_cast<uint32_t>(frames_.size()));
      if (fresh) frames_.push_back({from, name});
      from = found->second;
    }
    exits_[index_of(id)] = graph.is(id, OpKind::kExit);
    of_[index_of(id)] = from;
    ready.push_back(id);
  };
  // An Enter, too, where it reads an argument of a function.
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (!graph.removed(NodeId{i}) && producers.of(NodeId{i}).empty()) reach(NodeId{i}, 0);
  }
  while (!ready.empty()) {
    const NodeId id = ready.back();
    ready.pop_back();
    const uint32_t out = of_output(id);
    for (const NodeId reader : consumers.of(id)) {
      if (of_[index_of(reader)] == kUnknown) reach(reader, out);
    }
  }
  for (uint32_t& frame : of_) {
    if (frame == kUnknown) frame = 0;  // a cycle that nothing enters: TensorFlow refuses it
  }
}

uint32_t Frames::of_output(NodeId id) const {
  if (of_.empty()) return 0;
  const uint32_t frame = of_[index_of(id)];
  return exits_[index_of(id)] ? frames_[frame].parent : frame;
}

}  // namespace gedit
