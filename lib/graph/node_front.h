// What stands in front of the attributes of a node, most of its bytes, where its order is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "graph/graph.h"

namespace gedit {

// Calls use(number, value) for name, op, inputs and device of a node that is fields_ascend(), which is not
// looked at again; of a graph that is Graph::inputs_lead() all are. Gives where the attributes begin.
template <typename Use>
size_t each_before_attrs(std::string_view node_def, Use use) {
  constexpr unsigned kAttrTag = node_field::kAttr << 3 | 2;
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(node_def[at]); };
  size_t at = 0;
  while (at < node_def.size() && byte(at) < kAttrTag) {
    const uint32_t number = byte(at) >> 3U;
    size_t size = byte(at + 1);
    at += 2;
    if (size >= 0x80) {
      size &= 0x7f;
      for (unsigned shift = 7;; shift += 7) {
        const auto more = byte(at++);
        size |= size_t{more & 0x7fU} << shift;
        if (more < 0x80) break;
      }
    }
    use(number, std::string_view(node_def.data() + at, size));
    at += size;
  }
  return at;
}

// As each_input(): attributes, most of a node, are passed over where none is in front of an input.
template <typename Use>
void each_input_of(const Graph& graph, std::string_view node_def, Use use) {
  if (!graph.inputs_lead()) return each_input(node_def, use);
  each_before_attrs(node_def, [&](uint32_t number, std::string_view value) {
    if (number == node_field::kInput) use(value);
  });
}
template <typename Use>
void each_input_of(const Graph& graph, NodeId node, Use use) {
  each_input_of(graph, graph.bytes(node), use);
}

}  // namespace gedit
