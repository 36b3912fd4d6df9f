#include "edit/basis/inferred_shapes.h"

#include "shape/infer.h"

namespace gedit {

InferredShapes::InferredShapes(const Graph& graph, Registry& ops) : graph_(graph), ops_(ops) {}
InferredShapes::~InferredShapes() = default;

Shape InferredShapes::of(const TensorRef& tensor) {
  if (Shape stated = output_shape(graph_.bytes(tensor.node), tensor.index); stated || graph_.is_body())
    return stated;
  if (!inference_) inference_ = std::make_unique<Inference>(graph_, ops_);
  return inference_->main().shape(tensor.node, tensor.index);
}

}  // namespace gedit
