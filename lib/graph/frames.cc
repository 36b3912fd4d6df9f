#include "graph/frames.h"

#include <map>

#include "graph/node.h"
#include "ops/kinds.h"

namespace gedit {
bool is_constant_enter(std::string_view node_def) {
  const auto constant = find_attr(node_def, "is_constant");
  return is_enter_op(node_op(node_def)) && constant && last_varint(*constant, attr_field::kBool) != 0;
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
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (!producers.of(NodeId{i}).empty()) continue;
    of_[i] = 0;
    ready.push_back(NodeId{i});
  }
  while (!ready.empty()) {
    const NodeId id = ready.back();
    ready.pop_back();
    const uint32_t out = of_output(id);
    for (const NodeId reader : consumers.of(id)) {
      if (of_[index_of(reader)] != kUnknown) continue;
      const std::string_view node_def = graph.bytes(reader);
      const std::string_view op = node_op(node_def);
      uint32_t frame = out;
      if (is_enter_op(op)) {
        const std::string_view name = string_attr(node_def, "frame_name").value_or("");
        const auto [found, fresh] =
            known.emplace(std::pair{out, name}, static_cast<uint32_t>(frames_.size()));
        if (fresh) frames_.push_back({out, name});
        frame = found->second;
      }
      exits_[index_of(reader)] = is_exit_op(op);
      of_[index_of(reader)] = frame;
      ready.push_back(reader);
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
