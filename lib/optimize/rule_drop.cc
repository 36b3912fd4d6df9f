// Nodes that give on what they read, only look at it, or only group: docs/rules.md#optimize-drop.
#include "optimize/rules.h"

namespace gedit::optimizing {
namespace {

// Who reads a reference reads a copy from then on: that is what the node is for. What is of a loop's making
// is read by what TensorFlow expects there.
bool may_be_read_directly(const View& view, In in) {
  if (in.argument()) return true;
  const ProofOp& op = view.net.op(in.node);
  if (op.gives_references || op.kinds.has_any(OpKind::kNextIteration | OpKind::kLoopCond)) return false;
  return op.known || op.kinds.has(OpKind::kSwitch);
}

}  // namespace

Decision decide_drop(const View& view, Number n) {
  const Droppable& drops = view.subject.passes.drops;
  const ProofOp& op = view.net.op(n);
  const std::span<const In> data = view.net.data(n);
  if (op.kinds.has(OpKind::kNoOp) && drops.identities) {
    Decision decision;
    decision.vanishes = true;
    decision.reason = {"drop", op.name};
    return decision;
  }
  const What what = view.net.what(n);
  const bool dropped = is_dropped(drops, what);
  if (dropped && (what == What::kAssert || what == What::kPrintV2 || what == What::kSummary)) {
    Decision decision;
    decision.vanishes = true;
    decision.reason = {"drop", what == What::kSummary ? "summaries" : op.name};
    return decision;
  }
  const bool passes = drops.identities && (what == What::kIdentity || what == What::kIdentityN);
  const bool one = !data.empty() && (passes || dropped);
  const bool bypassed = view.subject.is_bypassed(n) && !data.empty();
  if (!one && !bypassed) return {};
  Decision decision;
  const size_t outputs = what == What::kIdentityN ? data.size() : 1;
  for (size_t k = 0; k < outputs; ++k) {
    if (!may_be_read_directly(view, data[k])) return {};
    decision.outputs.emplace_back(static_cast<uint32_t>(k), data[k]);
  }
  decision.reason = {"drop", op.name};
  decision.assumed = op.conduct != Conduct::kPasses;
  if (decision.assumed && !one && what != What::kCheckNumerics && what != What::kPrint)
    decision.changes = "was bypassed";
  return decision;
}

}  // namespace gedit::optimizing
