// The inputs and outputs of a summary.
#include "model/machinery.h"
#include "model/summary_parts.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// A Placeholder from before producer 24 cannot tell a scalar from an unknown shape (ops/array_ops.cc).
Shape shape_in_file(const SummarizedGraph& of, NodeId id, uint32_t output) {
  const std::string_view node_def = of.graph.bytes(id);
  Shape shape = output_shape(node_def, output);
  const auto producer = static_cast<int64_t>(last_varint(of.graph.part(graph_field::kVersions), 1));
  const bool old =
      producer < 24 && of.graph.is(id, OpKind::kMustBeFed) && !find_attr(node_def, "_output_shapes");
  if (old && shape && shape->empty()) return std::nullopt;
  return shape;
}

}  // namespace

TensorSummary summarize_tensor(const SummarizedGraph& of, NodeId id, uint32_t output, std::string reason) {
  TensorSummary summary;
  summary.tensor = std::string(of.graph.name(id)) + (output > 0 ? ":" + std::to_string(output) : "");
  const DType type = output_type(of.ops, of.graph.bytes(id), output);
  if (type != DType::kInvalid) summary.dtype = base_type(type);
  summary.shape = shape_in_file(of, id, output);
  summary.reason = std::move(reason);
  return summary;
}

void summarize_ends(const SummarizedGraph& of, GraphSummary& summary) {
  const Machinery machinery(of);
  summarize_inputs(of, machinery, summarize_outputs(of, machinery, summary), summary);
}

}  // namespace gedit
