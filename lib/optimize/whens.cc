#include "optimize/whens.h"

#include <algorithm>

#include "graph/frames.h"

namespace gedit::optimizing {

ClassId Whens::class_of(In in) {
  // What only passes on is as true; but of a variable it tells what was there at its time.
  while (!in.argument() && in.index == 0 && net_.what(in.node) == What::kIdentity) {
    const std::span<const In> data = net_.data(in.node);
    if (data.size() != 1 || data[0].argument() || net_.op(data[0].node).gives_references) break;
    in = data[0];
  }
  std::string text = "tensor ";
  text += std::to_string(in.node);
  text += ' ';
  text += std::to_string(in.index);
  return classes_.intern(classes_.label(KeyForm::kSource, text), {});
}

ConditionId Whens::alive(Number n, ConditionId when) {
  return conditions_.with(when, {class_of({n, 0}), Holds::kAlive});
}

ConditionId Whens::of(In in) {
  if (in.argument()) return kAlways;
  const ConditionId when = of(in.node);
  if (in.control() || !net_.is(in.node, OpKind::kSwitch) || net_.data(in.node).size() < 2) return when;
  const In predicate = net_.data(in.node)[1];
  const bool many = net_.what(in.node) == What::kSwitchN;
  if (!many && flow_.truth(predicate)) return flow_.dead(in) ? kNever : when;
  return conditions_.with(when, {class_of(predicate), many ? Holds::kFirstOfMany + in.index : in.index});
}

ConditionId Whens::of_merge(Number n) {
  std::vector<ConditionId> live;
  for (const In& in : net_.data(n)) {
    if (flow_.dead(in)) continue;
    if (is_back_edge(net_, n, in)) return alive(n, kAlways);
    live.push_back(of(in));
  }
  if (live.size() == 1) return live[0];
  if (live.size() == 2) {
    if (const auto common = conditions_.either(live[0], live[1])) return *common;
  }
  return alive(n, kAlways);
}

void Whens::look_at(Number n) {
  const ProofOp& op = net_.op(n);
  uint32_t frame = 0;
  for (const In& in : net_.inputs(n)) {
    if (!in.argument() && !is_back_edge(net_, n, in)) frame = std::max(frame, this->frame(in.node));
  }
  if (op.kinds.has(OpKind::kEnter)) {
    const auto key = std::pair(frame, string_attr(net_.def(n), "frame_name").value_or(""));
    const auto [found, fresh] = frames_.try_emplace(key, static_cast<uint32_t>(parents_.size()));
    if (fresh) {
      parents_.push_back(frame);
      entered_.push_back(kAlways);
    }
    frame = found->second;
  }
  const uint32_t inside = frame;
  if (op.kinds.has(OpKind::kExit)) frame = parents_[frame];
  frame_[n] = frame;

  ConditionId when = kAlways;
  if (op.kinds.has(OpKind::kMerge)) {
    when = of_merge(n);
  } else if (op.kinds.has(OpKind::kExit)) {
    when = loops_end_ ? entered_[inside] : alive(n, kAlways);
  } else if (net_.what(n) != What::kControlTrigger) {
    for (const In& in : net_.inputs(n)) when = conditions_.both(when, of(in));
    if (op.kinds.has(OpKind::kEnter)) entered_[frame] = conditions_.both(entered_[frame], when);
    // What is no constant of a loop is there in its first iteration alone.
    if (op.kinds.has(OpKind::kEnter) && !is_constant_enter(net_.def(n))) when = alive(n, when);
  }
  when_[n] = when;
}

}  // namespace gedit::optimizing
