// The constants of a graph as weights.
#include "weights/graph.h"

#include "base/error.h"
#include "base/wire.h"
#include "checkpoint/bundle.h"
#include "checkpoint/proto.h"
#include "checkpoint/tensor_proto.h"
#include "graph/library.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr uint32_t kTensorDtype = 1, kTensorShape = 2, kContentOfTensor = 4;

Weight constant_weight(std::string name, std::string_view proto, const std::shared_ptr<const Model>& model) {
  Weight weight{std::move(name), static_cast<DType>(last_varint(proto, kTensorDtype)),
                entry_shape(last_bytes(proto, kTensorShape)), nullptr};
  const size_t width = dtype_width(weight.dtype);
  const uint64_t elements = element_count(weight.shape), size = size_of_numbers(weight.dtype, weight.shape);
  if (width == 0) return weight;
  const std::string_view content = last_bytes(proto, kContentOfTensor);
  if (content.empty()) {
    weight.values = made_values(size, [proto, model, dtype = weight.dtype, elements] {
      return tensor_proto_values(proto, dtype, elements, false);
    });
    return weight;
  }
  if (content.size() != size) {
    throw Error(Cause::kInput, std::to_string(content.size()) + " bytes are stored, its shape has " +
                                   std::to_string(elements) + " elements of " + std::to_string(width));
  }
  if (model->file && model->file->holds(content)) {
    weight.values = file_values(
        model->file, static_cast<uint64_t>(content.data() - model->file->bytes().data()), content.size());
  } else {
    weight.values = memory_values(content, model);
  }
  return weight;
}

}  // namespace

Weights graph_weights(std::shared_ptr<const Model> model) {
  Weights weights;
  weights.path = model->path;
  const auto take = [&](std::string_view function, std::string_view node_def) {
    if (!is_const_op(node_op(node_def))) return;
    std::string name(function);
    if (!name.empty()) name += "//";
    name += node_name(node_def);
    const auto value = find_attr(node_def, "value");
    if (!value) return;
    try {
      weights.weights.push_back(constant_weight(name, last_bytes(*value, attr_field::kTensor), model));
    } catch (const Error& error) {
      throw Error(error.cause(), error.message()).of(quoted("node", name)).in(weights.path);
    }
  };
  try {
    model->graph().each_record([&](std::string_view node_def) { take({}, node_def); });
    each_body_node(model->graph().part(graph_field::kLibrary), *model->arena, take);
  } catch (const Malformed& error) {
    rethrow(*model, error);
  }
  sort_weights(weights);
  return weights;
}

}  // namespace gedit
