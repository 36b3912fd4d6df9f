// Control flow of version 1: Switch, Merge and loops, with deadness as TensorFlow's executor has it
// (docs/tensorflow.md#dead-tensors).
#include <algorithm>
#include <array>

#include "graph/frames.h"
#include "prove/numbering.h"

namespace gedit {
namespace {

constexpr uint32_t kMostBranches = 4096;  // of a _SwitchN
constexpr size_t kMostMerged = 512;       // inputs of a Merge, each of which is held against each

}  // namespace

void Numbering::number_switch(Node& node) {
  if (node.inputs.size() < 2) return number_plain(node);
  // One that lies in a variable's memory is read when the Switch runs.
  const bool memory = node.data.size() > 1 && is_memory(node.data[1]);
  const ClassId predicate = memory ? after(node, node.inputs[1]) : node.inputs[1];
  const std::optional<int64_t> outs = int_attr(graph_.bytes(node.id), "num_outs");  // of a _SwitchN
  const bool many = outs.has_value();
  const int64_t count = outs.value_or(2);
  if (count < 1 || count > kMostBranches) return number_plain(node);
  std::vector<uint32_t> before;
  const ClassId asked = without_wait(predicate, &before);
  const std::optional<bool> known = many ? std::nullopt : state_.truth(asked);
  if (known) {
    ++state_.switches;
    wait_for(node, std::move(before));
  }
  const ClassId what = after(node, node.inputs[0]);
  std::vector<ProofTensor> outputs;
  for (uint32_t branch = 0; branch < count; ++branch) {
    if (!known) {
      const uint32_t holds = !many ? branch : Holds::kFirstOfMany + branch;
      outputs.push_back({what, state_.conditions.with(node.when, {predicate, holds})});
    } else if (*known == (branch == 1)) {
      outputs.push_back({what, node.when});
    } else {
      outputs.push_back({kDeadClass, kNever});
    }
  }
  set_outputs(node.id, std::move(outputs), node.when);  // a control edge from the Switch itself always fires
}

// Of a Merge that gives this input.
void Numbering::set_taken(Node& node, const ProofTensor& taken, uint32_t position) {
  const ClassId which = behind(int32_constant(position), std::array{taken.what});
  set_outputs(node.id, {{after(node, taken.what), taken.when}, {after(node, which), taken.when}}, taken.when);
}

// Gives the one input that is alive. A dead control input does not kill it.
void Numbering::number_merge(Node& node) {
  struct Live {
    ProofTensor value;
    uint32_t position;
  };
  std::vector<Live> live;
  uint32_t position = 0;
  for (const In& in : node.data) {
    const ProofTensor value = in_value(in);
    if (value.when != kNever) live.push_back({value, position});
    ++position;
  }
  if (live.empty()) return set(node.id, {kDeadClass, kNever});
  if (live.size() == 1) {
    if (position > 1) ++state_.merges;
    return set_taken(node, live[0].value, live[0].position);
  }
  Classes& classes = state_.classes;
  if (live.size() == 2) {
    if (const auto split = state_.conditions.split(live[0].value.when, live[1].value.when)) {
      const size_t when_false = split->swapped ? 1 : 0;
      const Live &no = live[when_false], &yes = live[1 - when_false];
      const ClassId what =
          classes.intern(KeyForm::kChoice, {split->predicate, no.value.what, yes.value.what});
      const ClassId which = classes.intern(
          KeyForm::kChoice, {split->predicate, int32_constant(no.position), int32_constant(yes.position)});
      const ClassId told = behind(which, std::array{no.value.what, yes.value.what});
      set_outputs(node.id, {{after(node, what), split->common}, {after(node, told), split->common}},
                  split->common);
      return;
    }
  }
  std::vector<uint32_t> key;
  bool unknown = false;
  for (const Live& input : live) {
    key.push_back(input.value.what);
    key.push_back(input.value.when);
    unknown = unknown || state_.conditions.unknown(input.value.when);
  }
  // Of two that are there at once it takes either.
  bool both = live.size() > kMostMerged;
  for (size_t i = 0; i < live.size() && !both; ++i) {
    for (size_t k = 0; k < i && !both; ++k)
      both = !state_.conditions.exclude(live[i].value.when, live[k].value.when);
  }
  // Which of its inputs are dead is not told by the key.
  std::string text = "Merge";
  for (const Live& input : live) text += " " + std::to_string(input.position);
  const ClassId what = classes.intern(
      classes.label(KeyForm::kMerge, text, both ? "merges tensors that may be alive at once" : ""), key);
  if (unknown) classes.set_unknown(what);
  set(node.id, {after(node, what), state_.conditions.with(kAlways, {what, Holds::kAlive})});
}

// Of a loop that is never gone around the variable is what enters, and what is computed from constants is
// known. False where that may be several things, or one in every iteration.
bool Numbering::number_entered(Node& node) {
  std::optional<In> enter;
  uint32_t position = 0, at = 0;
  for (const In& in : node.data) {
    if (!in.real() || !is_back_edge(node.id, in)) {
      if (enter) return false;
      enter = in;
      at = position;
    }
    ++position;
  }
  if (!enter || !enter->real() || enter->index != 0) return false;
  const NodeId from{enter->node};
  if (!graph_.is(from, OpKind::kEnter) || is_constant_enter(graph_.bytes(from))) return false;
  ProofTensor value = in_value(*enter);
  if (value.when == kNever) {
    set(node.id, {kDeadClass, kNever});
    return true;
  }
  const std::vector<In> ins = inputs_of(from);
  const ClassId outside = ins.empty() ? value.what : in_value(ins[0]).what;
  if (state_.classes.label_of(outside).form == KeyForm::kConst) value.what = outside;
  set_taken(node, value, at);
  return true;
}

// Stands for itself until settle_loops() has told which are the same.
void Numbering::number_loop_variable(Node& node) {
  const auto [found, fresh] =
      loop_variable_of_.try_emplace(index_of(node.id), static_cast<uint32_t>(loop_variables_.size()));
  if (fresh) {
    loop_variables_.push_back({node.id});
    loop_variables_.back().unknown = in_body();
    loop_variables_.back().once = !state_.ordered;
  }
  LoopVariable& variable = loop_variables_[found->second];
  if (variable.once && number_entered(node)) return;
  variable.once = false;
  // It is there where the loop was entered.
  ConditionId entered = kAlways;
  size_t entries = 0;
  for (const In& in : node.data) {
    if (in.real() && is_back_edge(node.id, in)) continue;
    const ConditionId when = in_value(in).when;
    if (when == kNever) return set(node.id, {kDeadClass, kNever});  // the loop is never entered
    entered = ++entries == 1 ? when : kAlways;
  }
  Classes& classes = state_.classes;
  const LabelId label =
      classes.label(KeyForm::kLoopVar, "", variable.unknown ? "is in a loop that is not known" : "");
  const ClassId what = classes.intern(label, {variable.part});
  set(node.id, {after(node, what), state_.conditions.with(entered, {what, Holds::kAlive})});
}

// A loop that is never gone around is known by that.
void Numbering::number_loop_condition(Node& node) {
  if (node.inputs.size() != 1 || state_.ordered || state_.truth(node.inputs[0]) != false)
    return number_plain(node);
  set(node.id, {node.inputs[0], node.when});
}

// Whether what the Exit reads is there in the first iteration, and as it entered.
bool Numbering::is_left_at_once(const In& left) {
  constexpr int kMostSteps = 16;  // a Switch, a Merge, and what passes on
  In from = left;
  for (int steps = 0; from.real() && from.index == 0 && steps < kMostSteps; ++steps) {
    const NodeId id{from.node};
    const std::vector<In> ins = inputs_of(id);
    if (graph_.is(id, OpKind::kEnter)) return !is_constant_enter(graph_.bytes(id));
    if (ins.empty()) return false;
    const ProofOp& op = side_.labels().op(node_op(graph_.bytes(id)));
    if (op.kinds.has(OpKind::kSwitch)) {
      if (ins.size() < 2 || ins[1].control() || state_.truth(in_value(ins[1]).what) != false) return false;
    } else if (op.conduct != Conduct::kPasses) {
      const auto variable = loop_variable_of_.find(from.node);
      return variable != loop_variable_of_.end() && loop_variables_[variable->second].once;
    }
    from = ins[0];
  }
  return false;
}

// Gives what it reads in the iteration in which that is alive, so the key tells when that is. In the frame
// outside it is dead where the whole loop was.
void Numbering::number_exit(Node& node) {
  if (node.inputs.size() != 1) return number_plain(node);
  Classes& classes = state_.classes;
  if (!state_.ordered && is_left_at_once(node.data[0])) {
    const ClassId entered = node.inputs[0];
    const bool is_enter = is_enter_op(op_of(classes.label_of(entered)));
    return set(node.id, {is_enter ? classes.inputs(entered)[0] : entered, node.when});
  }
  const ClassId what =
      after(node, classes.intern(classes.label(KeyForm::kMerge, "Exit"), {node.inputs[0], node.when}));
  if (state_.conditions.unknown(node.when)) classes.set_unknown(what);
  set(node.id, {what, state_.conditions.with(kAlways, {what, Holds::kAlive})});
}

}  // namespace gedit
