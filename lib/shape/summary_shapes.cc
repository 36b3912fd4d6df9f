#include "shape/summary_shapes.h"

#include "ops/kinds.h"
#include "shape/infer.h"

namespace gedit {
namespace {

class ShapeSummary {
 public:
  ShapeSummary(const GraphIndex& index, Registry& ops, GraphSummary& summary)
      : index_(index), graph_(index.graph()), ops_(ops), summary_(summary), inference_(index, ops) {}

  void run() {
    for (TensorSummary& tensor : summary_.inputs) add_to(tensor);
    for (TensorSummary& tensor : summary_.outputs) add_to(tensor);
    find_largest();
  }

 private:
  // Where both know something, what follows from the graph knows what the file says, too.
  void add_to(TensorSummary& tensor) const {
    const Input named = parse_input(tensor.tensor);
    const NodeId id = index_.names().find(named.node);
    if (id == kNoNode) return;
    const Shape inferred = inference_.main().shape(id, named.index());
    if (inferred && compatible(inferred, tensor.shape)) tensor.shape = inferred;
  }

  // What is made of the inputs on the way to the outputs; training steps are no outputs of the model.
  void find_largest() {
    NodeSet inputs(graph_.size()), outputs(graph_.size());
    const auto take = [&](const TensorSummary& tensor, NodeSet& set) {
      const NodeId id = index_.names().find(parse_input(tensor.tensor).node);
      if (id != kNoNode && !graph_.is(id, OpKind::kWritesVariable | OpKind::kNoOp)) set.add(id);
    };
    for (const TensorSummary& tensor : summary_.inputs) take(tensor, inputs);
    for (const TensorSummary& tensor : summary_.outputs) take(tensor, outputs);
    const NodeSet upstream = reach(outputs, index_.producers(), kAnyDistance);
    const NodeSet downstream = reach(inputs, index_.readers(), kAnyDistance);
    uint64_t most = 1;
    NodeId largest = kNoNode;
    uint32_t largest_output = 0;
    for (const NodeId id : downstream.nodes()) {
      // A Switch and an Enter hand on what is there: weights, too.
      if (!upstream.has(id) || inputs.has(id) || graph_.is(id, OpKind::kSwitch | OpKind::kEnter)) continue;
      for (uint32_t k = 0; k < inference_.main().outputs(id); ++k) {
        const uint64_t elements = elements_of(inference_.main().shape(id, k));
        if (elements <= most) continue;
        most = elements;
        largest = id;
        largest_output = k;
      }
    }
    if (largest == kNoNode) return;
    LargestActivation found;
    found.tensor = std::string(graph_.name(largest));
    if (largest_output > 0) found.tensor += ":" + std::to_string(largest_output);
    found.shape = inference_.main().shape(largest, largest_output);
    const DType type = output_type(ops_, graph_.bytes(largest), largest_output);
    if (type != DType::kInvalid) found.dtype = base_type(type);
    if (found.dtype) found.bytes = most * dtype_width(*found.dtype);
    summary_.largest_activation = std::move(found);
  }

  // With 1 for each dimension that is not known: what one example takes.
  static uint64_t elements_of(const Shape& shape) {
    if (!shape) return 0;
    uint64_t count = 1;
    for (const int64_t dim : *shape) {
      if (dim >= 0 && __builtin_mul_overflow(count, static_cast<uint64_t>(dim), &count)) return 0;
    }
    return count < (uint64_t{1} << 58) ? count : 0;
  }

  const GraphIndex& index_;
  const Graph& graph_;
  Registry& ops_;
  GraphSummary& summary_;
  Inference inference_;
};

}  // namespace

void add_inferred_shapes(const GraphIndex& index, Registry& ops, GraphSummary& summary) {
  if (summary.nodes + summary.function_nodes > kMostNodesForShapes) return;
  ShapeSummary(index, ops, summary).run();
}

}  // namespace gedit
