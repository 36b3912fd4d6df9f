// What is computed from constants alone becomes one, where it is known bit for bit
// (docs/rules.md#optimize-fold).
#include <algorithm>
#include <unordered_set>

#include "optimize/constant.h"
#include "optimize/rules.h"

namespace gedit::optimizing {
namespace {

// Bytes that go with the node: its own, and those of constants that nobody else reads.
int64_t bytes_saved(const View& view, Number n) {
  int64_t saved = static_cast<int64_t>(view.net.def(n).size());
  for (const In& in : view.net.data(n)) {
    if (view.flow.read_once(in.node) && !view.subject.is_kept(in.node))
      saved += static_cast<int64_t>(view.net.def(in.node).size());
  }
  return saved;
}

// What is made costs memory until all is written, and so does what the proof is told of it.
constexpr uint64_t kMostMade = uint64_t{256} << 20;

// What the constants that it reads waited for, since a Const does nothing but wait, and whatever else it
// reads.
std::vector<In> waits_of(const View& view, Number n) {
  std::vector<In> waits;
  std::unordered_set<Number> seen;
  const auto add = [&](std::span<const In> controls) {
    for (const In& in : controls) {
      if (seen.insert(in.node).second) waits.push_back(in);
    }
  };
  for (const In& in : view.net.data(n)) {
    const In control = control_of(in.node);
    add(view.net.is(in.node, OpKind::kConst) ? view.net.controls(in.node) : std::span<const In>(&control, 1));
  }
  add(view.net.controls(n));
  return waits;
}

// A Const of the value in the node's place. `assumed`: the proof does not find it itself.
Decision constant(const View& view, Number n, const folding::ConstTensor& value, std::vector<In> waits,
                  int64_t saved, bool assumed) {
  Subject& subject = view.subject;
  NodeBuilder made(view.net.name(n), "Const");
  made.device(view.net.device(n)).type("dtype", value.dtype());
  made.attr("value", tensor_value(""));
  Decision decision;
  decision.becomes = made.take();
  constexpr uint64_t kMostLengths = 12;  // what the lengths of what lies around the value take more
  const uint64_t bytes = folding::tensor_proto_size(value);
  auto size = static_cast<int64_t>(decision.becomes.size() + bytes + (bytes < 64 ? 0 : kMostLengths));
  for (const In& in : waits) size += static_cast<int64_t>(view.net.name(in.node).size()) + 3;
  const int64_t growth = size - saved;
  if (growth > (subject.fold_larger ? static_cast<int64_t>(folding::kMostGrowth) : 0) ||
      subject.made + static_cast<uint64_t>(size) > kMostMade)
    return {};
  std::string proto = folding::tensor_proto_of(value);
  decision.becomes = with_attr(decision.becomes, "value", tensor_value(proto));
  decision.inputs = std::move(waits);
  subject.larger = subject.larger || growth > 0;
  subject.made += static_cast<uint64_t>(size);
  ++subject.folded;
  for (const In& in : view.net.data(n)) {
    if (!in.argument() && view.net.is(in.node, OpKind::kConst))
      subject.give_reason(in.node, {"unneeded", "nodes"});
  }
  if (assumed) subject.assume({n, 0}, std::move(proto));
  return decision;
}

// A Const that waits for what the node read, which may be a branch's, or a loop's.
Decision waiting_constant(const View& view, Number n, const folding::ConstTensor& value) {
  for (const In& in : view.net.data(n)) {
    if (in.argument() || view.whens.of(in) != view.whens.of(in.node)) return {};
  }
  return constant(view, n, value, waits_of(view, n), static_cast<int64_t>(view.net.def(n).size()), true);
}

// Of shapes that are known before anything runs, and what is picked of them.
Decision fold_known(const View& view, Number n) {
  const Subject& subject = view.subject;
  constexpr size_t kMostInputs = 64;
  if (view.net.data(n).size() > kMostInputs || view.net.controls(n).size() > kMostInputs) return {};
  const auto found = subject.known.find(n);
  return found != subject.known.end() ? waiting_constant(view, n, found->second) : Decision();
}

}  // namespace

Decision decide_fold(const View& view, Number n) {
  Net& net = view.net;
  const ProofOp& op = net.op(n);
  const std::span<const In> data = net.data(n);
  if (data.empty() || op.kinds.has_any(OpKind::kConst | OpKind::kSwitch | OpKind::kMerge) ||
      op.conduct == Conduct::kPasses || view.subject.keeps_more(n))
    return {};
  if (!view.subject.known.empty()) {
    if (Decision decision = fold_known(view, n); decision.any()) return decision;
  }
  for (const In& in : data) {
    if (view.const_of(in) == In::kArgument) return {};
  }
  if (!folding::is_foldable(op.name) && !folding::reads_shapes(op.name)) return {};
  if (net.outputs(n) != 1) return {};
  std::vector<folding::ConstTensor> values;
  for (const In& in : data) {
    const folding::ConstTensor* value = view.subject.constant(view.const_of(in));
    if (value == nullptr) return {};
    values.push_back(*value);
  }
  const folding::FoldOutcome outcome = view.subject.folder.fold(net.def(n), values);
  if (outcome.outputs.size() != 1) return {};
  return constant(view, n, outcome.outputs[0], waits_of(view, n), bytes_saved(view, n), false);
}

}  // namespace gedit::optimizing
