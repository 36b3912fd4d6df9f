// A function cut out of the main graph, for a signature that tf.saved_model.load is to see: it takes the
// inputs, and behind them the objects that the nodes in between read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "edit/objects/signatures.h"
#include "graph/names.h"
#include "model/saved_objects.h"
#include "select/tensors.h"

namespace gedit {

struct WrapperTensor {
  SignatureTensor signature;
  TensorRef tensor;
};

struct Wrapper {
  std::string function_def;
  std::vector<uint32_t> bound_inputs;  // its last arguments
  // Constants that are too big to be repeated in the function: nodes that are to become objects, in this
  // order behind those that are there.
  std::vector<std::string> constants;
  std::string state;  // a variable or table that is no object, so that no function can be made; else empty
};

// `inputs` and `outputs` in the order of their keys; `objects_of` as object_nodes() gives it. What the
// outputs need goes into the body, up to the inputs and the nodes that stand for objects; main-graph calls of
// library functions are looked up in `library`. Throws Error (kRefused) where they need a placeholder that is
// no input, or an op that is not known.
Wrapper cut_wrapper(const Graph& graph, const Names& names, Registry& ops, const Library& library,
                    const SavedObjects& objects, const std::unordered_map<uint32_t, uint32_t>& objects_of,
                    std::string_view name, const std::vector<WrapperTensor>& inputs,
                    const std::vector<WrapperTensor>& outputs);

}  // namespace gedit
