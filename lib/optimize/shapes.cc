#include "optimize/shapes.h"

#include <algorithm>

#include "shape/infer.h"

namespace gedit::optimizing {
namespace {

// Gives what it reads first, where that has the same shape.
bool only_shapes(What what) {
  switch (what) {
    case What::kReshape:
    case What::kSqueeze:
    case What::kSlice:
    case What::kPad:
    case What::kTile:
    case What::kBroadcastTo:
      return true;
    default:
      return false;
  }
}

// Dimensions that are not known are equal where one symbol stands for both.
bool is_same_shape(const TensorFacts& in, const Shape& shape, const std::vector<uint32_t>& symbols) {
  if (!in.shape || !shape || in.shape->size() != shape->size()) return false;
  for (size_t i = 0; i < shape->size(); ++i) {
    if ((*in.shape)[i] != (*shape)[i]) return false;
    if ((*shape)[i] >= 0) continue;
    if (i >= symbols.size() || i >= in.symbols.size() || symbols[i] == 0 || symbols[i] != in.symbols[i])
      return false;
  }
  return true;
}

void learn(Subject& subject, Number n, const GraphShapes& shapes) {
  Net& net = subject.net;
  const NodeId id{n};
  if (folding::follows_from_shapes(net.op(n).name)) {
    if (auto known = folding::known_value(shapes, id, net.def(n), subject.folder))
      subject.known.emplace(n, std::move(*known));
  } else {
    const std::vector<TensorFacts> inputs = shapes.inputs(id);
    if (!inputs.empty() && is_same_shape(inputs[0], shapes.shape(id), shapes.symbols(id)))
      subject.same_shape.insert(n);
  }
}

}  // namespace

bool learn_shapes(Subject& subject, Graph& graph, Registry& ops) {
  if (!subject.passes.fold && !subject.passes.algebra) return false;
  Net& net = subject.net;
  std::vector<Number> nodes;
  bool any = false;
  for (Number n = 0; n < net.size(); ++n) {
    if (!net.there(n) || subject.is_untouched(n)) continue;
    const bool asks = folding::reads_shapes(net.op(n).name) || only_shapes(net.what(n));
    if (asks || folding::follows_from_shapes(net.op(n).name)) nodes.push_back(n);
    any = any || asks;
  }
  if (!any) return false;
  net.store();
  InferRequest infer;
  infer.file_shapes = false;
  const Inference inference(graph, ops, infer);
  for (const Number n : nodes) learn(subject, n, inference.main());
  return true;
}

}  // namespace gedit::optimizing
