// What is computed from constants alone becomes one, where it is known bit for bit
// (docs/rules.md#optimize-fold).
#include "optimize/constant.h"
#include "optimize/rules.h"

namespace gedit::optimizing {
namespace {

// Bytes that go with the node: its own, and those of constants that nobody else reads.
int64_t bytes_saved(const View& view, Number n) {
  int64_t saved = static_cast<int64_t>(view.net.def(n).size());
  for (const In& in : view.net.data(n)) {
    if (view.flow.readers(in.node) == 1 && !view.subject.is_kept(in.node))
      saved += static_cast<int64_t>(view.net.def(in.node).size());
  }
  return saved;
}

}  // namespace

Decision decide_fold(const View& view, Number n) {
  Net& net = view.net;
  const ProofOp& op = net.op(n);
  const std::span<const In> data = net.data(n);
  if (data.empty() || op.kinds.has_any(OpKind::kConst | OpKind::kSwitch | OpKind::kMerge) ||
      op.conduct == Conduct::kPasses || !folding::is_foldable(op.name) || view.subject.keeps_more(n))
    return {};
  for (const In& in : data) {
    if (in.argument() || in.index != 0 || !net.is(in.node, OpKind::kConst)) return {};
  }
  if (net.outputs(n) != 1) return {};
  std::vector<folding::ConstTensor> values;
  for (const In& in : data) {
    std::optional<folding::ConstTensor> value = folding::const_value(net.def(in.node));
    if (!value) return {};
    values.push_back(std::move(*value));
  }
  const folding::FoldOutcome outcome = view.subject.folder.fold(net.def(n), values);
  if (outcome.outputs.size() != 1) return {};
  const folding::ConstTensor& result = outcome.outputs[0];
  std::string proto = folding::tensor_proto_of(result);
  NodeBuilder made(net.name(n), "Const");
  made.device(node_device(net.def(n))).type("dtype", result.dtype()).attr("value", tensor_value(proto));
  Decision decision;
  decision.becomes = made.take();
  const int64_t growth = static_cast<int64_t>(decision.becomes.size()) - bytes_saved(view, n);
  if (view.subject.grown + growth > 0) return {};
  view.subject.grown += growth;
  ++view.subject.folded;
  for (const In& in : data) decision.inputs.push_back(control_of(in.node));
  for (const In& in : net.controls(n)) decision.inputs.push_back(in);
  view.subject.assume({n, 0}, std::move(proto));
  return decision;
}

}  // namespace gedit::optimizing
