// A tensor inside a library function, as users name it: `FUNCTION//node:1`, `FUNCTION//node:z:0`,
// `FUNCTION//argument`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "graph/dtype.h"
#include "graph/graph.h"
#include "graph/names.h"
#include "ops/registry.h"

namespace gedit {

struct BodyTensor {
  std::string name;       // of the node or of the argument
  NodeId node = kNoNode;  // kNoNode: an argument
  uint32_t index = 0;     // among the outputs of the node
  std::string port;       // `z:0`; empty for an argument
  DType type = DType::kInvalid;
  std::string source;  // as the body's nodes read it
};

// `text` is what stands behind `//`; `names` are the body's. Throws Error (kRefused): no such node or
// argument, with near names; no such output; an op that is not known where the output is given as a number.
BodyTensor find_body_tensor(const Graph& body, const Names& names, Registry& ops, std::string_view function,
                            std::string_view text);

// `z:0` of `z` and `z:0`; the number alone of an argument's `0`.
std::string whole_port(std::string_view port);

}  // namespace gedit
