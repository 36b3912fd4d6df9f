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

}  // namespace gedit
