// Switch and Merge, with deadness as TensorFlow's executor has it (docs/tensorflow.md#dead-tensors).
#include <algorithm>
#include <array>

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
  std::optional<uint32_t> taken;
  if (many) {
    taken = state_.branch_of(asked, static_cast<size_t>(count));
  } else if (const std::optional<bool> known = state_.truth(asked)) {
    taken = *known ? 1 : 0;
  } else if (const auto of_case = case_branch({asked, 1}); of_case && of_case->count == 1U) {
    taken = 1;
  }
  if (taken) {
    ++state_.switches;
    wait_for(node, std::move(before));
  }
  const ClassId what = after(node, node.inputs[0]);
  const ClassId by = many ? state_.classes.intern(state_.classes.label(KeyForm::kNode, "_SwitchN"),
                                                  {predicate, int32_constant(count)})
                          : predicate;
  std::vector<ProofTensor> outputs;
  for (uint32_t branch = 0; branch < count; ++branch) {
    if (!taken) {
      const uint32_t holds = !many ? branch : Holds::kFirstOfMany + branch;
      outputs.push_back({what, state_.conditions.with(node.when, {by, holds})});
    } else if (*taken == branch) {
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

// By what a Merge gives which of its inputs, where of these one is always there: as an If or a Case does it.
std::optional<Numbering::Choice> Numbering::choice_of(const Conditions::Split& split) {
  const std::vector<Holds>& apart = split.apart;
  Choice choice{branch_label(true), apart[0].of, std::vector<size_t>(apart.size())};
  if (split.both_sides()) {
    choice.inputs = {apart[0].branch, apart[1].branch};
    return choice;
  }
  choice.label = branch_label(false);
  std::vector<bool> found(apart.size());
  bool last = false;
  for (size_t i = 0; i < apart.size(); ++i) {
    const std::optional<CaseBranch> branch = case_branch(apart[i]);
    if (!branch || branch->number >= found.size() || found[branch->number]) return std::nullopt;
    if (i > 0 && branch->index != choice.by) return std::nullopt;
    if (branch->count && *branch->count != apart.size()) return std::nullopt;
    choice.by = branch->index;
    choice.inputs[branch->number] = i;
    found[branch->number] = true;
    last = last || branch->count.has_value();
  }
  if (!last) return std::nullopt;
  return choice;
}

// Which branch of a Case it is that runs where this holds: an output of a `_SwitchN`, or, as `--lower` writes
// it, where the index is a number or, of the last branch, none of the others.
std::optional<Numbering::CaseBranch> Numbering::case_branch(const Holds& holds) const {
  const Classes& classes = state_.classes;
  const auto is = [&](ClassId id, std::string_view op) {
    return op_of(classes.label_of(id)) == op && classes.inputs(id).size() == 2;
  };
  const auto compared = [&](ClassId id) { return state_.int32_scalar(classes.inputs(id)[1]).value_or(-1); };
  if (holds.branch >= Holds::kFirstOfMany && holds.branch != Holds::kAlive && is(holds.of, "_SwitchN")) {
    return CaseBranch{classes.inputs(holds.of)[0], holds.branch - Holds::kFirstOfMany,
                      static_cast<uint32_t>(compared(holds.of))};
  }
  if (holds.branch != 1) return std::nullopt;
  if (is(holds.of, "Equal")) {
    const int32_t number = compared(holds.of);
    if (number < 0) return std::nullopt;
    return CaseBranch{classes.inputs(holds.of)[0], static_cast<uint32_t>(number), std::nullopt};
  }
  if (!is(holds.of, "LogicalOr")) return std::nullopt;
  const ClassId below = classes.inputs(holds.of)[0], above = classes.inputs(holds.of)[1];
  if (!is(below, "Less") || !is(above, "GreaterEqual") || compared(below) != 0 || compared(above) < 0 ||
      classes.inputs(below)[0] != classes.inputs(above)[0])
    return std::nullopt;
  const auto number = static_cast<uint32_t>(compared(above));
  return CaseBranch{classes.inputs(above)[0], number, number + 1};
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
  std::vector<ConditionId> conditions;
  for (const Live& input : live) conditions.push_back(input.value.when);
  if (const auto split = live.size() > kMostMerged ? std::nullopt : state_.conditions.split(conditions)) {
    if (const auto choice = choice_of(*split)) {
      std::vector<uint32_t> what{choice->by}, which{choice->by};
      std::vector<ClassId> values;
      for (const size_t input : choice->inputs) {
        what.push_back(live[input].value.what);
        which.push_back(int32_constant(live[input].position));
        values.push_back(live[input].value.what);
      }
      const ClassId told = behind(classes.intern(choice->label, which), values);
      set_outputs(node.id,
                  {{after(node, classes.intern(choice->label, what)), split->common},
                   {after(node, told), split->common}},
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

}  // namespace gedit
