#include "prove/parting.h"

#include <algorithm>
#include <set>

#include "fold/fold.h"
#include "graph/listing.h"
#include "prove/neutral.h"

namespace gedit {
namespace {

constexpr size_t kMostText = 60;  // characters of an attribute's value

std::string short_text(std::string text) {
  if (text.size() > kMostText) text = text.substr(0, kMostText - 3) + "...";
  return text;
}

// Why one of two that are not the same is not known, itself and not only what it is made of; null where both
// are.
const std::string* unknown_itself(const Classes& classes, ClassId a, ClassId b) {
  for (ClassId id : {a, b}) {
    for (;; id = classes.inputs(id)[0]) {
      const Label& label = classes.label_of(id);
      if (!label.unknown.empty()) return &label.unknown;
      const bool shell = label.form == KeyForm::kOutput || label.form == KeyForm::kHandle ||
                         label.form == KeyForm::kOwn || label.form == KeyForm::kAfter;
      if (!shell || classes.inputs(id).empty() || !classes.unknown(id)) break;
    }
  }
  return nullptr;
}

// Whether it is computed of the shape of a tensor.
bool rests_on_shapes(const Classes& classes, ClassId id) {
  constexpr size_t kMost = 1000;
  std::set<ClassId> seen{id};
  std::vector<ClassId> open{id};
  while (!open.empty() && seen.size() < kMost) {
    const ClassId at = open.back();
    open.pop_back();
    const Label& label = classes.label_of(at);
    if (folding::follows_from_shapes(op_of(label))) return true;
    const auto inputs = classes.inputs(at);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (holds_class(label.form, i) && seen.insert(inputs[i]).second) open.push_back(inputs[i]);
    }
  }
  return false;
}

}  // namespace

std::string Partings::attribute_difference(NodeId a, NodeId b) {
  const std::string_view node_a = side_a_.graph().bytes(a), node_b = side_b_.graph().bytes(b);
  if (node_op(node_a) != node_op(node_b))
    return "op " + printable(node_op(node_a)) + ", " + printable(node_op(node_b));
  const auto attrs_a = side_a_.labels().attributes(node_a), attrs_b = side_b_.labels().attributes(node_b);
  const auto value = [](const auto& attrs, const std::string& key) -> std::string {
    const auto found = std::ranges::find_if(attrs, [&](const auto& attr) { return attr.first == key; });
    return found == attrs.end() ? "none" : short_text(found->second);
  };
  for (const auto& [key, text] : attrs_a) {
    if (std::ranges::find(attrs_b, std::pair(key, text)) == attrs_b.end())
      return printable(key) + " " + short_text(text) + ", " + value(attrs_b, key);
  }
  for (const auto& [key, text] : attrs_b) {
    if (std::ranges::find(attrs_a, std::pair(key, text)) == attrs_a.end())
      return printable(key) + " " + value(attrs_a, key) + ", " + short_text(text);
  }
  return "";
}

Parting Partings::first(ClassId a, ClassId b) {
  const Classes& classes = state_.classes;
  Parting parting;
  std::set<std::pair<ClassId, ClassId>> seen;
  NodeId node_a = kNoNode, node_b = kNoNode;
  std::optional<Parting> by_one;  // where the one is the other times 1, or else looks like it
  for (;;) {
    if (a == b && by_one) return *by_one;
    const NodeId here_a = a_.node_of(a), here_b = b_.node_of(b);
    if (here_a != kNoNode && here_b != kNoNode) {
      node_a = here_a;
      node_b = here_b;
    }
    const bool again = !seen.emplace(a, b).second;
    if (again || seen.size() > 2000) {
      parting.why = "what they are made of";
      // In a circle nothing parts them but what is not known.
      parting.unknown = again && (classes.unknown(a) || classes.unknown(b));
      break;
    }
    const Label &label_a = classes.label_of(a), &label_b = classes.label_of(b);
    const auto inputs_a = classes.inputs(a), inputs_b = classes.inputs(b);
    if (label_a.form == KeyForm::kConst && label_b.form == KeyForm::kConst) {
      const std::string text_a = state_.contents.text(inputs_a[0]),
                        text_b = state_.contents.text(inputs_b[0]);
      parting.by_value = true;
      parting.why = text_a == text_b ? "the value" : "the value, " + text_a + ", " + text_b;
      break;
    }
    if (label_a.form == KeyForm::kLoopVar && label_b.form == KeyForm::kLoopVar) {
      bool deeper = false;
      const auto next_a = loop_inputs_a()[inputs_a[0]], next_b = loop_inputs_b()[inputs_b[0]];
      for (size_t i = 0; i < std::min(next_a.size(), next_b.size()) && !deeper; ++i) {
        if (next_a[i] == next_b[i] || seen.contains({next_a[i], next_b[i]})) continue;
        a = next_a[i];
        b = next_b[i];
        deeper = true;
      }
      if (deeper) continue;
      parting.why = "when the loop ends";
      break;
    }
    const auto is_table = [](const Side& side, NodeId id) {
      return id != kNoNode && side.graph().is(id, OpKind::kTable);
    };
    if (is_table(side_a_, here_a) && is_table(side_b_, here_b) && !side_a_.filled_otherwise(here_a).empty()) {
      parting.why = "what fills them";
      break;
    }
    if (classes.label_id_of(a) != classes.label_id_of(b) &&
        (label_a.form == KeyForm::kShared || label_b.form == KeyForm::kShared)) {
      parting.why = "rests on state that is shared by another name";
      parting.unknown = true;
      break;
    }
    if (const std::string* why = unknown_itself(classes, a, b)) {
      parting.why = *why;
      parting.unknown = true;
      break;
    }
    const bool in_function = here_a == kNoNode || here_b == kNoNode;
    const bool one_known = (label_a.form == KeyForm::kConst) != (label_b.form == KeyForm::kConst);
    if (in_function && one_known && rests_on_shapes(classes, label_a.form == KeyForm::kConst ? b : a)) {
      parting.why = "computes in a function what its shapes may tell in this call";
      parting.unknown = true;
      break;
    }
    if (classes.label_id_of(a) != classes.label_id_of(b)) {
      const auto in_a = scaled_by_one(state_, a), in_b = scaled_by_one(state_, b);
      if (in_a.has_value() != in_b.has_value()) {
        if (!by_one) {
          by_one.emplace();
          if (node_a != kNoNode) by_one->a = side_a_.graph().name(node_a);
          if (node_b != kNoNode) by_one->b = side_b_.graph().name(node_b);
          if (!in_function) by_one->why = attribute_difference(here_a, here_b);
          if (!by_one->why.empty()) by_one->why += "; ";
          by_one->why += "scaled by 1: the same but for denormals, which become 0";
        }
        (in_a ? a : b) = in_a ? *in_a : *in_b;
        continue;
      }
      if (here_a != kNoNode && here_b != kNoNode) {
        parting.why = attribute_difference(here_a, here_b);
        parting.by_attribute =
            !parting.why.empty() && side_a_.graph().op(here_a) == side_b_.graph().op(here_b);
      }
      // What an Unpack is made of is no node.
      const bool inside = here_a == kNoNode && here_b == kNoNode && node_a != kNoNode && node_b != kNoNode;
      if (inside) parting.why = attribute_difference(node_a, node_b);
      if (parting.why.empty()) parting.why = "what they are";
      break;
    }
    if (inputs_a.size() != inputs_b.size()) {
      const bool loop = label_a.form == KeyForm::kWhile;
      const size_t functions = loop ? 2 : 0;
      parting.why = std::to_string(inputs_a.size() - functions) + ", " +
                    std::to_string(inputs_b.size() - functions) +
                    (loop ? " variables that the body changes" : " inputs");
      break;
    }
    const auto mismatch = std::ranges::mismatch(inputs_a, inputs_b);
    const auto at = static_cast<size_t>(mismatch.in1 - inputs_a.begin());
    if (label_a.form == KeyForm::kMerge && at % 2 == 1) {  // by what a loop ends, or a branch is taken
      const auto when_a = state_.conditions.only(*mismatch.in1),
                 when_b = state_.conditions.only(*mismatch.in2);
      if (when_a && when_b && when_a->branch == when_b->branch) {
        a = when_a->of;
        b = when_b->of;
        continue;
      }
    }
    if (at == inputs_a.size() || !holds_class(label_a.form, at)) {
      parting.why = label_a.form == KeyForm::kOutput ? "the number of the output" : "when it is there";
      break;
    }
    a = *mismatch.in1;
    b = *mismatch.in2;
  }
  if (parting.why.empty()) parting.why = "what they are made of";
  if (node_a != kNoNode) {
    parting.a = side_a_.graph().name(node_a);
    parting.b = side_b_.graph().name(node_b);
  }
  return parting;
}

Parting Partings::unknown(ClassId id) {
  const Classes& classes = state_.classes;
  Parting parting;
  std::set<ClassId> seen;
  while (seen.insert(id).second) {
    const NodeId node_a = a_.node_of(id), node_b = b_.node_of(id);
    if (node_a != kNoNode) parting.a = side_a_.graph().name(node_a);
    if (node_b != kNoNode) parting.b = side_b_.graph().name(node_b);
    const Label& label = classes.label_of(id);
    parting.why = label.unknown.empty() ? "when it is there" : label.unknown;
    const auto inputs = classes.inputs(id);
    if (label.form == KeyForm::kLoopVar) {
      for (const ClassId next : loop_inputs_a()[inputs[0]]) {
        if (classes.unknown(next) && !seen.contains(next)) id = next;
      }
      continue;
    }
    if (!label.unknown.empty()) break;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!holds_class(label.form, i) || !classes.unknown(inputs[i])) continue;
      id = inputs[i];
      break;
    }
  }
  return parting;
}

uint64_t Partings::count(ClassId id) {
  const Classes& classes = state_.classes;
  std::vector<bool> seen(classes.size());
  std::vector<ClassId> open{id};
  seen[id] = true;
  uint64_t count = 0;
  while (!open.empty() && steps_left_ > 0) {
    const ClassId next = open.back();
    open.pop_back();
    ++count;
    --steps_left_;
    const KeyForm form = classes.label_of(next).form;
    const auto inputs = classes.inputs(next);
    const auto go_to = [&](ClassId input) {
      if (seen[input]) return;
      seen[input] = true;
      open.push_back(input);
    };
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (holds_class(form, i)) go_to(inputs[i]);
    }
    if (form != KeyForm::kLoopVar) continue;
    for (const ClassId input : loop_inputs_a()[inputs[0]]) go_to(input);
  }
  return count;
}

}  // namespace gedit
