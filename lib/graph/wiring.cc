#include "graph/wiring.h"

#include "graph/types.h"

namespace gedit {

BodyPort parse_body_port(std::string_view port) {
  const size_t colon = port.rfind(':');
  if (colon == std::string_view::npos) return {port, 0};
  return {port.substr(0, colon), output_number(port.substr(colon + 1))};
}

std::string tensor_text(std::string_view node, uint32_t index) {
  std::string text(node);
  if (index > 0) text += ":" + std::to_string(index);
  return text;
}

std::string body_tensor_text(std::string_view node, std::string_view output, uint32_t number) {
  return std::string(node) + ":" + std::string(output) + ":" + std::to_string(number);
}

std::optional<std::string> body_output_text(Registry& ops, std::string_view node_def, std::string_view name,
                                            uint32_t index) {
  const auto outputs = output_names(ops, node_def);
  if (!outputs || index >= outputs->size()) return std::nullopt;
  return body_tensor_text(name, (*outputs)[index].arg, (*outputs)[index].index);
}

std::optional<uint32_t> body_output_index(Registry& ops, std::string_view node_def, std::string_view port) {
  const BodyPort wanted = parse_body_port(port);
  const auto outputs = output_names(ops, node_def);
  for (uint32_t i = 0; outputs && i < outputs->size(); ++i) {
    if ((*outputs)[i].arg == wanted.output && (*outputs)[i].index == wanted.number) return i;
  }
  return std::nullopt;
}

}  // namespace gedit
