#include "edit/basis/inferred_shapes.h"

#include "shape/infer.h"
#include "shape/summary_shapes.h"

namespace gedit {

InferredShapes::InferredShapes(const Graph& graph, Registry& ops) : graph_(graph), ops_(ops) {}
InferredShapes::~InferredShapes() = default;

Shape InferredShapes::of(const TensorRef& tensor) {
  if (Shape stated = output_shape(graph_.bytes(tensor.node), tensor.index); stated || graph_.is_body())
    return stated;
  return follows(tensor);
}

Shape InferredShapes::known(const TensorRef& tensor, const Shape& stated) {
  if (stated || graph_.is_body() || graph_.size() > kMostNodesForShapes) return stated;
  return follows(tensor);
}

Shape InferredShapes::follows(const TensorRef& tensor) {
  if (!inference_) inference_ = std::make_unique<Inference>(graph_, ops_);
  return inference_->main().shape(tensor.node, tensor.index);
}

}  // namespace gedit
