// Loops of version 1: by their variables, those of both graphs in one partition that is refined until none is
// told from another.
#include <algorithm>
#include <map>
#include <set>

#include "graph/frames.h"
#include "prove/numbering.h"

namespace gedit {

// --- nodes of loops ---

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

// --- until all is settled ---

std::vector<uint32_t> Numbering::signature(const LoopVariable& variable) {
  const Labelled& labelled = side_.labels().of(graph_.bytes(variable.merge), text_);
  std::vector<uint32_t> found{variable.part, labelled.label};
  const std::vector<In> ins = inputs_of(variable.merge);
  for (const In& in : ins) {
    if (in.control()) continue;
    const ProofTensor value = in_value(in);
    found.push_back(value.what);
    found.push_back(value.when);
  }
  return found;
}

std::vector<ClassId> Numbering::loop_inputs(NodeId merge) {
  std::vector<ClassId> found;
  const std::vector<In> ins = inputs_of(merge);
  for (const In& in : ins) {
    if (!in.control()) found.push_back(in_value(in).what);
  }
  return found;
}

bool Numbering::next_is_unknown(const LoopVariable& variable) {
  const std::vector<In> ins = inputs_of(variable.merge);
  return std::ranges::any_of(ins, [&](const In& in) {
    if (in.control()) return false;
    const ProofTensor value = in_value(in);
    return state_.classes.unknown(value.what) || state_.conditions.unknown(value.when);
  });
}

void Numbering::number_again() {
  std::vector<In> ins;
  for (const NodeId node : looping_) {
    ins.clear();
    resolve(node, ins);
    number(node, ins);
  }
}

std::string_view Numbering::frame_of(NodeId merge) {
  const std::vector<In> ins = inputs_of(merge);
  for (const In& in : ins) {
    if (in.real() && graph_.is(NodeId{in.node}, OpKind::kEnter))
      return string_attr(graph_.bytes(NodeId{in.node}), "frame_name").value_or("");
  }
  return {};
}

bool Numbering::goes_back(NodeId merge) {
  const std::vector<In> ins = inputs_of(merge);
  return std::ranges::any_of(
      ins, [&](const In& in) { return in.real() && is_back_edge(merge, in) && in_value(in).when != kNever; });
}

bool Numbering::settle_first_iterations() {
  constexpr int kMostDeep = 8;  // loops in one another of which more is known than that they may go on
  bool any = false;
  for (int depth = 0;; ++depth) {
    // All variables of a loop go on together.
    std::set<std::string_view> around;
    for (const LoopVariable& variable : loop_variables_) {
      if (variable.once && (depth == kMostDeep || goes_back(variable.merge)))
        around.insert(frame_of(variable.merge));
    }
    if (around.empty()) return any;
    for (LoopVariable& variable : loop_variables_)
      variable.once = variable.once && !around.contains(frame_of(variable.merge));
    number_again();
    any = true;
  }
}

void settle_loops(Numbering& a, Numbering& b) {
  constexpr uint64_t kMostWork = 60'000'000;  // nodes numbered again
  uint64_t work = 0;
  size_t parts = 1;
  for (;;) {
    std::map<std::vector<uint32_t>, uint32_t> found;
    bool more_unknown = false;
    for (Numbering* graph : {&a, &b}) more_unknown = graph->settle_first_iterations() || more_unknown;
    for (Numbering* graph : {&a, &b}) {
      std::vector<uint32_t> next;
      for (Numbering::LoopVariable& variable : graph->loop_variables()) {
        next.push_back(
            found.try_emplace(graph->signature(variable), static_cast<uint32_t>(found.size())).first->second);
        if (!variable.unknown && graph->next_is_unknown(variable)) more_unknown = variable.unknown = true;
      }
      for (size_t i = 0; i < next.size(); ++i) graph->loop_variables()[i].part = next[i];
    }
    if (found.size() <= parts && !more_unknown) return;
    parts = found.size();
    work += a.loop_nodes() + b.loop_nodes();
    const bool too_much = work > kMostWork;
    for (Numbering* graph : {&a, &b}) {
      for (Numbering::LoopVariable& variable : graph->loop_variables()) variable.unknown |= too_much;
      graph->number_again();
    }
    if (too_much) return;
  }
}

}  // namespace gedit
