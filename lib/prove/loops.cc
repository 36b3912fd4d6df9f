// What goes into a loop, around it and out of it: of version 1 and, beside such a one, of a While. Its
// variables stand for themselves until settle_loops() has told which are the same.
#include "graph/frames.h"
#include "prove/numbering.h"

namespace gedit {

// --- into a loop, around it and out of it ---

const Frames& Numbering::frames() {
  if (!in_body()) return side_.frames();
  if (!body_->frames) body_->frames.emplace(graph_, producers(graph_, names_));
  return *body_->frames;
}

// The loop that the node runs in, where its tensors are told apart within an iteration alone.
Numbering::Loop* Numbering::loop_of(NodeId node) {
  if (in_body() || state_.ordered || !side_.producers().complete()) return nullptr;
  const uint32_t frame = frames().of(node);
  if (frame == 0) return nullptr;
  if (loops_.size() <= frame) loops_.resize(frame + 1);
  return loops_[frame].together ? &loops_[frame] : nullptr;
}

// What comes into a loop, in its first iteration or, `constant`, in each. What rests on nothing that happens
// at a time of its own is the same in a loop as outside; of anything else one that comes in is told from one
// that the loop itself makes.
ClassId Numbering::entered(ClassId what, bool constant) {
  Classes& classes = state_.classes;
  if (constant ? !classes.happens(what) : state_.truth(what).has_value()) return what;
  if (constant && classes.label_of(what).form == KeyForm::kHandle)
    return classes.intern(KeyForm::kHandle, {entered(classes.inputs(what)[0], constant)});
  return classes.intern(classes.label(KeyForm::kNode, constant ? "Enter\nis_constant" : "Enter"), {what});
}

ClassId Numbering::next(ClassId what) {
  return state_.classes.intern(state_.classes.label(KeyForm::kNode, "NextIteration"), {what});
}

ClassId Numbering::loop_condition(ClassId what) {
  return state_.classes.intern(state_.classes.label(KeyForm::kNode, "LoopCond"), {what});
}

// What comes out of a loop, of the iteration in which that holds.
ClassId Numbering::left(ClassId what, ConditionId when) {
  Classes& classes = state_.classes;
  if (!state_.ordered && classes.label_of(what).form == KeyForm::kHandle)
    return classes.intern(KeyForm::kHandle, {left(classes.inputs(what)[0], when)});
  const ClassId id = classes.intern(exit_label(), {what, when});
  if (state_.conditions.unknown(when)) classes.set_unknown(id);
  return id;
}

// Whether it is what a loop gives, of version 1 or a While that is known by its functions.
bool Numbering::comes_out_of_loop(ClassId what) {
  const Classes& classes = state_.classes;
  return classes.label_of(what).form == KeyForm::kAfter || classes.label_id_of(what) == exit_label();
}

// What is alive in a loop's first iteration alone.
ClassId Numbering::in_first_iteration() {
  return state_.classes.intern(state_.classes.label(KeyForm::kNode, "Enter"), {});
}

ClassId Numbering::loop_variable(uint32_t part, bool unknown) {
  const LabelId label =
      state_.classes.label(KeyForm::kLoopVar, "", unknown ? "is in a loop that is not known" : "");
  return state_.classes.intern(label, {part});
}

// --- nodes of version 1 ---

// What goes into a loop, or into its next iteration; false for all else, and where order counts. In a loop
// whose variables come and go together all is there in each iteration; when that was entered is said where it
// is left. What comes in for the first iteration alone is there in that.
bool Numbering::number_into_iteration(Node& node) {
  if (state_.ordered || node.inputs.size() != 1) return false;
  const auto is = [&](const ProofTensor& value) {
    set(node.id, value);
    return true;
  };
  if (node.op().kinds.has(OpKind::kNextIteration)) return is({next(node.inputs[0]), node.when});
  if (!node.op().kinds.has(OpKind::kEnter)) return false;
  const bool constant = is_constant_enter(graph_.bytes(node.id));
  const ClassId what = entered(node.inputs[0], constant);
  Loop* const loop = loop_of(node.id);
  if (loop == nullptr) return is({what, node.when});
  if (constant) {
    loop->constants = state_.conditions.both(loop->constants, node.when);
    return is({what, kAlways});
  }
  if (!is_as_seen(loop->entered, node.when)) loop->apart = true;
  return is({what, state_.conditions.with(kAlways, {in_first_iteration(), Holds::kAlive})});
}

// Of a loop that is never gone around the variable is what enters, and what is computed from constants is
// known. False where that may be several things, or one in every iteration.
bool Numbering::number_entered(Node& node) {
  const std::optional<Entry> entry = entry_of(node.data, node.id);
  if (!entry) return false;
  ProofTensor value = in_value(entry->in);
  if (value.when == kNever) {
    set(node.id, {kDeadClass, kNever});
    return true;
  }
  if (loop_of(node.id) != nullptr) value.when = kAlways;
  if (state_.classes.label_of(entry->outside).form == KeyForm::kConst) value.what = entry->outside;
  set_taken(node, value, entry->position);
  return true;
}

// The one input of a loop's variable that does not come from the iteration before, where that is what an
// Enter brings in for the first.
std::optional<Numbering::Entry> Numbering::entry_of(std::span<const In> ins, NodeId merge) {
  std::optional<Entry> entry;
  for (uint32_t position = 0; position < ins.size(); ++position) {
    if (ins[position].control() || (ins[position].real() && is_back_edge(merge, ins[position]))) continue;
    if (entry) return std::nullopt;
    entry = {ins[position], position};
  }
  if (!entry || !entry->in.real() || entry->in.index != 0) return std::nullopt;
  const NodeId from{entry->in.node};
  if (!graph_.is(from, OpKind::kEnter) || is_constant_enter(graph_.bytes(from))) return std::nullopt;
  const std::vector<In> of_enter = inputs_of(from);
  if (of_enter.empty() || of_enter[0].control()) return std::nullopt;
  entry->outside = in_value(of_enter[0]).what;
  return entry;
}

// Of a loop's variable with one input from outside and one from the iteration before.
std::optional<Numbering::Round> Numbering::round_of(NodeId merge) {
  std::vector<In> ins = inputs_of(merge);
  std::erase_if(ins, [](const In& in) { return in.control(); });
  const std::optional<Entry> entry = ins.size() == 2 ? entry_of(ins, merge) : std::nullopt;
  return entry ? std::optional<Round>({*entry, ins[1 - entry->position]}) : std::nullopt;
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
  ConditionId entered_when = kAlways;
  size_t entries = 0;
  for (const In& in : node.data) {
    if (in.real() && is_back_edge(node.id, in)) continue;
    const ConditionId when = in_value(in).when;
    if (when == kNever) return set(node.id, {kDeadClass, kNever});  // the loop is never entered
    entered_when = ++entries == 1 ? when : kAlways;
  }
  const ClassId what = loop_variable(variable.part, variable.unknown);
  if (Loop* const loop = loop_of(node.id)) {
    if (const std::optional<Round> round = round_of(node.id)) {
      if (!variable.stays) return set(node.id, {what, kAlways});
      const ClassId which = state_.classes.intern(KeyForm::kOutput, {what, 1});
      return set_outputs(node.id, {{entered(round->entry.outside, true), kAlways}, {which, kAlways}},
                         kAlways);
    }
    loop->apart = true;
  }
  set(node.id, {after(node, what), state_.conditions.with(entered_when, {what, Holds::kAlive})});
}

// A loop that is never gone around is known by that.
void Numbering::number_loop_condition(Node& node) {
  if (node.inputs.size() != 1 || state_.ordered) return number_plain(node);
  const bool ends = state_.truth(node.inputs[0]) == false;
  set(node.id, {ends ? node.inputs[0] : loop_condition(node.inputs[0]), node.when});
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
// outside it is there where the loop was entered, if that ends at all, or dead where the whole loop was.
void Numbering::number_exit(Node& node) {
  if (node.inputs.size() != 1) return number_plain(node);
  Classes& classes = state_.classes;
  Loop* const loop = loop_of(node.id);
  const ConditionId outside = loop == nullptr ? kAlways : loop->entered.value_or(kAlways);
  const std::optional<Holds> inside = state_.conditions.only(node.when);
  if (!state_.ordered && is_left_at_once(node.data[0])) {
    const ClassId in = node.inputs[0];
    const bool is_enter = is_enter_op(op_of(classes.label_of(in)));
    const bool first = inside && inside->of == in_first_iteration();
    return set(node.id, {is_enter ? classes.inputs(in)[0] : in,
                         first ? outside : state_.conditions.both(outside, node.when)});
  }
  const ClassId what = after(node, left(node.inputs[0], node.when));
  if (loop != nullptr && inside && inside->branch == 0) {
    if (!is_as_seen(loop->goes_on, inside->of)) loop->apart = true;
    return set(node.id, {what, outside});
  }
  set(node.id, {what, state_.conditions.with(outside, {what, Holds::kAlive})});
}

// --- a While, as a loop ---

// The variables that the body changes are told apart as those of a loop of version 1, what it hands on is
// constant in it.
void Numbering::number_while_as_loop(Node& node, std::string_view condition, std::string_view body) {
  const size_t first = side_.first_while_variable(place_.path, node.id, node.inputs.size());
  std::vector<ProofTensor> variables;
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    const WhileVariable& variable = side_.while_variables[first + k];
    variables.push_back(
        {variable.stays ? entered(node.inputs[k], true) : loop_variable(variable.part, variable.unknown),
         kAlways});
  }
  const std::vector<ProofTensor> asked =
      results_of(side_, state_, condition, variables, place_of_call(node.id, 0));
  const std::vector<ProofTensor> results =
      results_of(side_, state_, body, variables, place_of_call(node.id, 1));
  if (asked.size() != 1 || results.size() != node.inputs.size()) return number_odd(node);
  const ClassId goes_on = loop_condition(always_there(state_, asked[0]));
  const ConditionId ends = state_.conditions.with(kAlways, {goes_on, 0});
  std::vector<ProofTensor> outputs;
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    WhileVariable& variable = side_.while_variables[first + k];
    variable.begin = entered(node.inputs[k], false);
    variable.next = next(always_there(state_, results[k]));
    variable.unchanged = next(entered(node.inputs[k], true));
    outputs.push_back({left(variables[k].what, ends), node.when});
  }
  set_outputs(node.id, std::move(outputs), node.when);
}

}  // namespace gedit
