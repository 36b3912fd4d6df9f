// Tensors as users name them: `node:1`, `^node`, `serving_default.inputs[x]`, `x:float32[?,224]`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "graph/graph.h"
#include "graph/names.h"
#include "graph/types.h"
#include "model/model.h"
#include "ops/registry.h"

namespace gedit {

// An output of a node, or its control output.
struct TensorRef {
  NodeId node = kNoNode;
  uint32_t index = 0;
  bool control = false;

  friend bool operator==(const TensorRef&, const TensorRef&) = default;
};

struct TensorHash {
  size_t operator()(const TensorRef& tensor) const {
    return (uint64_t{index_of(tensor.node)} << 32 | tensor.index << 1 | (tensor.control ? 1 : 0)) *
           0x9e3779b97f4a7c15;
  }
};

// A tensor of a graph by name; `^node` where `control` allows it. Throws Error (kRefused) where the node does
// not exist (with near names) or has fewer outputs.
TensorRef find_tensor(const Model& model, const Names& names, Registry& ops, std::string_view text,
                   bool control = false);

// The same where the tensor may be absent: nothing then.
std::optional<TensorRef> tensor_if_there(const Names& names, std::string_view text);

// `a:1`, or `a` for output 0; `^a`.
std::string tensor_text(std::string_view node, uint32_t index);
std::string tensor_text(const Graph& graph, const TensorRef& tensor);

// T:DTYPE[SHAPE]: a tensor with a stated type.
struct TypedTensor {
  std::string name;
  std::optional<DType> dtype;
  Shape shape;
};
// Throws Error (kUsage).
TypedTensor parse_typed_tensor(std::string_view text);

// `[?,224,3]`; `?`, `-1` and `None` alike. Throws Error (kUsage).
Shape parse_shape(std::string_view text);

// The name of the tensor that `KEY.inputs[x]` or `KEY.outputs[y]` is; nothing where the text has not that
// form. Throws Error (kRefused) where there is no such signature, input or output.
std::optional<std::string> signature_tensor(const Model& model, std::string_view text);

}  // namespace gedit
