// Where order counts, since something writes: what a node waits for, and what of it tells nothing
// (docs/rules.md#prove-state).
#include <algorithm>
#include <unordered_set>

#include "prove/numbering.h"

namespace gedit {
namespace {

constexpr int kMostBehind = 4;  // others in a row that something came behind, and are looked at

}  // namespace

ClassId Numbering::done_class(const In& in) const { return in.real() ? done_[in.node] : kDeadClass; }

// Where order counts: the value, behind what the node waits for.
ClassId Numbering::after(Node& node, ClassId what) {
  if (!state_.ordered) return what;
  if (!node.before) wait_for(node, {});
  return *node.before == Node::kNothing ? what : state_.classes.intern(KeyForm::kAfter, {what, *node.before});
}

// What waiting for the node comes to: for what it gives, or, of several outputs or where it is dead, for all
// that it waited for. One with an effect may have done anything.
ClassId Numbering::done_by(const Node& node, bool effect) {
  const ClassId what = values_[index_of(node.id)].what;
  const bool many = (what & kMany) != 0;
  if (!many && what != kDeadClass) return what;
  std::vector<uint32_t> all;
  const auto add = [&](ClassId done) {
    if (done != kDeadClass) add_wait(done, all);
  };
  if (many) {
    for (const ProofTensor& output : outputs_[what & ~kMany]) add(output.what);
  }
  for (const ClassId input : node.inputs) add(input);
  for (const In& in : node.data) {
    if (!many && in.real() && state_of_[in.node] == kDone) add_wait(done_[in.node], all);
  }
  for (const In& in : node.controls) add_wait(done_class(in), all);
  if (effect) all.push_back(state_.unknown("a call", "calls a function that has effects"));
  return all_before(std::move(all));
}

// For its control inputs, and for these.
void Numbering::wait_for(Node& node, std::vector<uint32_t> before) {
  if (!state_.ordered) return;
  // Who runs though what it waits for is dead waits for what tells whether that is so.
  const bool when_dead = node.op().conduct == Conduct::kTriggers || node.op().kinds.has(OpKind::kMerge);
  for (const In& in : node.controls) {
    const ClassId done = done_class(in);
    const ConditionId when = in.real() ? values_[in.node].when : kAlways;
    if (when_dead && when != kAlways && when != kNever)
      before.push_back(state_.classes.intern(KeyForm::kOwn, {done, 0, when}));
    add_wait(done, before);
  }
  node.before = before.empty() ? Node::kNothing : all_before(std::move(before));
}

// What it comes to that a node is waited for that gives this: nothing, or what it waited for, where all else
// that it is made of may happen at any time.
void Numbering::add_wait(ClassId done, std::vector<uint32_t>& before) const {
  const Classes& classes = state_.classes;
  if (done != kDeadClass && !classes.happens(done)) return;
  ClassId first = done;  // what came behind others
  std::vector<uint32_t> others;
  for (int step = 0; step < kMostBehind && classes.label_of(first).form == KeyForm::kAfter; ++step) {
    add_group(classes.inputs(first)[1], others);
    first = classes.inputs(first)[0];
  }
  if (first != done && !classes.happens(first)) {
    before.insert(before.end(), others.begin(), others.end());
  } else {
    add_group(done, before);
  }
}

// All of a group by itself; but a long chain of groups would name all before it again and again.
void Numbering::add_group(ClassId group, std::vector<uint32_t>& before) const {
  constexpr size_t kMostOfGroup = 64;
  const auto all = state_.classes.inputs(group);
  if (state_.classes.label_of(group).form == KeyForm::kBefore && all.size() <= kMostOfGroup) {
    before.insert(before.end(), all.begin(), all.end());
  } else {
    before.push_back(group);
  }
}

// The class where the node waits for these, too, of which it is not made.
ClassId Numbering::behind(ClassId what, std::span<const ClassId> others) {
  if (!state_.ordered) return what;
  std::vector<uint32_t> before;
  for (const ClassId other : others) {
    if (!rests_on(what, other)) add_wait(other, before);
  }
  return before.empty() ? what
                        : state_.classes.intern(KeyForm::kAfter, {what, all_before(std::move(before))});
}

// What a node of several outputs gives, behind all that its inputs wait for. Of many it is all for each, in
// one class.
void Numbering::put_behind(std::vector<ProofTensor>& outputs, std::span<const ClassId> inputs) {
  if (!state_.ordered) return;
  constexpr size_t kMostPairs = 256;
  if (outputs.size() * inputs.size() <= kMostPairs) {
    for (ProofTensor& output : outputs) output.what = behind(output.what, inputs);
    return;
  }
  std::vector<uint32_t> before;
  for (const ClassId input : inputs) add_wait(input, before);
  if (before.empty()) return;
  const ClassId all = all_before(std::move(before));
  for (ProofTensor& output : outputs)
    output.what = state_.classes.intern(KeyForm::kAfter, {output.what, all});
}

// Whether a class is made of another; false, too, where that is long to find out.
bool Numbering::rests_on(ClassId what, ClassId part) const {
  constexpr size_t kMost = 256;
  const Classes& classes = state_.classes;
  if (!classes.happens(part)) return true;  // nothing to wait for
  std::unordered_set<ClassId> seen{what};
  std::vector<ClassId> open{what};
  while (!open.empty() && seen.size() < kMost) {
    const ClassId at = open.back();
    open.pop_back();
    if (at == part) return true;
    const auto inputs = classes.inputs(at);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (holds_class(classes.label_of(at).form, i) && classes.happens(inputs[i]) &&
          seen.insert(inputs[i]).second)
        open.push_back(inputs[i]);
    }
  }
  return false;
}

// A constant that waits becomes the constant; `before` gains what it waited for, where somebody asks.
ClassId Numbering::without_wait(ClassId what, std::vector<uint32_t>* before) const {
  if (!state_.ordered) return what;
  const Classes& classes = state_.classes;
  const auto inputs = classes.inputs(what);
  if (classes.label_of(what).form != KeyForm::kAfter || classes.label_of(inputs[0]).form != KeyForm::kConst)
    return what;
  if (before != nullptr) add_group(inputs[1], *before);
  return inputs[0];
}

// What ran by then, in whatever order it is named.
ClassId Numbering::all_before(std::vector<uint32_t> classes) {
  std::ranges::sort(classes);
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  // What came behind others had these before it, so that they need no naming.
  std::vector<uint32_t> before;
  for (ClassId one : classes) {
    for (int step = 0; step < kMostBehind && classes.size() > 1; ++step) {
      if (state_.classes.label_of(one).form != KeyForm::kAfter) break;
      const auto inputs = state_.classes.inputs(one);
      before.push_back(inputs[0]);
      add_group(inputs[1], before);
      one = inputs[0];
    }
  }
  std::ranges::sort(before);
  std::erase_if(classes, [&](ClassId one) { return std::ranges::binary_search(before, one); });
  return classes.size() == 1 ? classes[0] : state_.classes.intern(KeyForm::kBefore, classes);
}

std::vector<uint32_t> Numbering::waits_of_inputs(const Node& node) {
  std::vector<uint32_t> before;
  for (const In& in : node.data) add_wait(in.real() ? done_[in.node] : in_value(in).what, before);
  return before;
}

// Whether it may give the memory of a reference variable, which changes when the variable does: many ops hand
// on what they read where that is what they would compute.
bool Numbering::gives_memory(const Node& node) const {
  const ProofOp& op = node.op();
  if (op.gives_references) return true;
  return !op.kinds.has(OpKind::kComputesAnew) && reads_memory(node);
}

bool Numbering::reads_memory(const Node& node) const {
  return std::ranges::any_of(node.data, [&](const In& in) { return is_memory(in); });
}

bool Numbering::is_memory(const In& in) const {
  return state_.ordered && in.real() && (state_of_[in.node] != kDone || is_memory_[in.node]);
}

// Where order counts: what a node that is only input `but` waits for, the constants beside it included; false
// where those are none.
bool Numbering::waits_for_constants(Node& node, size_t but) {
  std::vector<uint32_t> before;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (i == but) continue;
    const ClassId held = without_wait(node.inputs[i], &before);
    if (state_.classes.label_of(held).form != KeyForm::kConst) return false;
  }
  wait_for(node, std::move(before));
  return true;
}

}  // namespace gedit
