#include "edit/changing/rebake.h"

#include <map>

#include "base/message_edit.h"
#include "edit/changing/stale_sizes.h"
#include "graph/wiring.h"
#include "ops/kinds.h"

namespace gedit {

// The Reshapes whose shape the node's value becomes part of; nothing where it becomes something else, too.
std::optional<std::set<NodeId>> reshapes_of(const BakedPlace& place, NodeId constant) {
  std::set<NodeId> found;
  std::set<NodeId> seen{constant};
  std::vector<NodeId> open{constant};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    for (const NodeId reader : place.consumers.of(id)) {
      const std::string_view op = place.graph.op(reader);
      size_t slot = 0;
      bool as_shape = true, as_data = false;
      each_input(place.graph.bytes(reader), [&](std::string_view text) {
        const Input input = parse_input_of(place.graph, text);
        if (!input.control && place.names.find(input.node) == id) {
          as_shape = as_shape && slot == 1;
          as_data = true;
        }
        ++slot;
      });
      if (!as_data) continue;  // it waits for it
      if (op == "Reshape" && as_shape) {
        found.insert(reader);
      } else if (is(op, OpKind::kPassesSizes)) {
        if (seen.insert(reader).second) open.push_back(reader);
      } else {
        return std::nullopt;
      }
    }
  }
  return found;
}

std::optional<std::string> rebaked(const BakedPlace& place, NodeId constant,
                                   const std::vector<BakedEntry>& entries) {
  ConstSizes sizes = const_sizes(place.graph.bytes(constant));
  const auto readers = reshapes_of(place, constant);
  if (!readers) return std::nullopt;
  std::map<size_t, std::set<NodeId>> wanting;
  std::map<size_t, int64_t> numbers;
  for (const BakedEntry& entry : entries) {
    if (!entry.now || entry.element >= sizes.numbers.size()) return std::nullopt;
    wanting[entry.element].insert(entry.reader);
    if (numbers.emplace(entry.element, *entry.now).first->second != *entry.now) return std::nullopt;
  }
  for (const auto& [element, wants] : wanting) {
    if (wants != *readers) return std::nullopt;
    sizes.numbers[element] = numbers[element];
  }
  return with_sizes(place.graph.bytes(constant), sizes.numbers);
}

std::string with_sizes(std::string_view node_def, const std::vector<int64_t>& sizes) {
  const std::string_view tensor = last_bytes(*find_attr(node_def, "value"), attr_field::kTensor);
  const bool wide = static_cast<DType>(last_varint(tensor, 1)) == DType::kInt64;
  constexpr uint32_t kType = 1, kShape = 2, kContent = 4;
  std::string content;
  for (const int64_t number : sizes) {
    for (int byte = 0; byte < (wide ? 8 : 4); ++byte)
      content += static_cast<char>(static_cast<uint64_t>(number) >> (8 * byte) & 0xff);
  }
  std::string made = only_fields(tensor, [&](const Field& field) {
    return (field.number == kType && field.wire == Wire::kVarint) || field.bytes(kShape);
  });
  append_bytes_field(made, kContent, content);
  return with_attr(node_def, "value", tensor_value(made));
}

std::string sizes_text(std::string_view const_node_def) {
  const ConstSizes sizes = const_sizes(const_node_def);
  std::string text;
  for (const int64_t number : sizes.numbers) {
    if (!text.empty()) text += ',';
    text += std::to_string(number);
  }
  return sizes.vector ? '[' + text + ']' : text;
}

}  // namespace gedit
