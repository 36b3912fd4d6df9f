// How inputs are written: `a`, `a:1` and `^a` in a main graph; in a function's body `argument`, `a:output:1`
// and `^a`, by the name of the output as its op has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "graph/graph.h"
#include "ops/registry.h"

namespace gedit {

// An input as the graph that it stands in writes it.
inline Input parse_input_of(const Graph& graph, std::string_view text) {
  return graph.is_body() ? parse_body_input(text) : parse_input(text);
}

// What stands behind a node in a body's input: `output:1`, or `output` for its tensor 0.
struct BodyPort {
  std::string_view output;
  uint32_t number = 0;  // among the tensors of an output that is a list
};
BodyPort parse_body_port(std::string_view port);

// `a:1`, or `a` for output 0.
std::string tensor_text(std::string_view node, uint32_t index);
// `a:output:1`.
std::string body_tensor_text(std::string_view node, std::string_view output, uint32_t number = 0);

// How an input in a body reads output `index` of the node, if that is called `name`; nothing where the op is
// unknown or has fewer outputs.
std::optional<std::string> body_output_text(Registry& ops, std::string_view node_def, std::string_view name,
                                            uint32_t index);
// The number of the output that an input in a body means by `port`; nothing where that is not known.
std::optional<uint32_t> body_output_index(Registry& ops, std::string_view node_def, std::string_view port);

}  // namespace gedit
