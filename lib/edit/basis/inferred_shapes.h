// The shape of a tensor of the main graph where a new node is to state it, or another tensor takes its place
// (docs/rules.md#types).
#pragma once

#include <memory>

#include "graph/graph.h"
#include "graph/types.h"
#include "ops/registry.h"
#include "select/tensors.h"

namespace gedit {

class Inference;

// What the file says of it, else what follows from the graph, which is looked at when that is asked for first
// and stays as it is meanwhile.
class InferredShapes {
 public:
  InferredShapes(const Graph& graph, Registry& ops);
  ~InferredShapes();
  InferredShapes(const InferredShapes&) = delete;
  InferredShapes& operator=(const InferredShapes&) = delete;

  Shape of(const TensorRef& tensor);
  // `stated`, where that is known; else what follows, of a graph that is small enough for a look at all of it
  // to be worth a warning.
  Shape known(const TensorRef& tensor, const Shape& stated);

 private:
  Shape follows(const TensorRef& tensor);

  const Graph& graph_;
  Registry& ops_;
  std::unique_ptr<Inference> inference_;
};

}  // namespace gedit
