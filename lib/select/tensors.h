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

// An output of a node, or its control output. In a function's body an argument has no node, and its position
// as index.
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
std::string tensor_text(const Graph& graph, const TensorRef& tensor);

// Whether the node, a Placeholder from before producer 24, says [] of an unknown shape, too
// (ops/array_ops.cc).
bool says_scalar_of_unknown(const Graph& graph, NodeId id);

// The tensors of one graph, the main one or a function's body, as its nodes and as users write them. In a
// body a node reads `node:output:0` where a user writes `FN//node:0`, and an argument is a tensor without a
// node.
class Tensors {
 public:
  // All of them outlive it. `function` is empty for the main graph.
  Tensors(const Model& model, const Graph& graph, const Names& names, Registry& ops,
          std::string_view function);

  // What an input of a node reads; nothing where that is not there.
  std::optional<TensorRef> of_input(std::string_view text) const;

  // As a user writes it, with `FN//` or without; in a body `FN//node:output:0` as well. Throws as
  // find_tensor().
  TensorRef find(std::string_view written, bool control = false) const;

  // Throws Error (kRefused) where the node is known to have no such output.
  void check_output(const TensorRef& tensor) const;

  // As a node reads it, and as a node reads output `tensor.index` of a copy of the tensor's node called
  // `node`.
  std::string input_text(const TensorRef& tensor) const;
  std::string input_text(const TensorRef& tensor, std::string_view node) const;

  // As users write it.
  std::string text(const TensorRef& tensor) const;

  // kInvalid where it is not known.
  DType type(const TensorRef& tensor) const;
  Shape shape(const TensorRef& tensor) const;

  bool is_argument(std::string_view name) const { return argument(name) != arguments_.size(); }
  const std::string& function() const { return function_; }

 private:
  size_t argument(std::string_view name) const;
  TensorRef find_in_body(std::string_view written, bool control) const;

  const Model& model_;
  const Graph& graph_;
  const Names& names_;
  Registry& ops_;
  std::string function_;
  std::vector<ArgDef> arguments_;
};

// `FUNCTION//node:1` taken apart; `function` is empty for the main graph.
struct Address {
  std::string_view function, rest;
};
Address split_address(std::string_view text);

// `FUNCTION//name`, or the name alone in the main graph.
std::string address(std::string_view function, std::string_view name);

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
