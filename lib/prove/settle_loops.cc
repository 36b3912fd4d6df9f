// Which loops' variables are the same: those of both graphs in one partition, which is refined until none is
// told from another, after what was assumed of the loops holds.
#include <algorithm>
#include <map>
#include <set>

#include "prove/numbering.h"

namespace gedit {
namespace {

constexpr uint32_t kOfALoop = UINT32_MAX;  // in a signature, where else the label of a Merge stands

}  // namespace

std::vector<uint32_t> Numbering::signature(const LoopVariable& variable) {
  if (loop_of(variable.merge) != nullptr) {
    if (const std::optional<Round> round = round_of(variable.merge)) {
      return {variable.part, kOfALoop, round->entry.position, in_value(round->entry.in).what,
              in_value(round->back).what};
    }
  }
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

std::unordered_map<uint32_t, std::vector<ClassId>> Numbering::loop_inputs() {
  std::unordered_map<uint32_t, std::vector<ClassId>> found;
  for (const LoopVariable& variable : loop_variables_) found[variable.part] = loop_inputs(variable.merge);
  for (const WhileVariable& variable : side_.while_variables)
    found.try_emplace(variable.part, std::vector<ClassId>{variable.begin, variable.next});
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
  for (Loop& loop : loops_) loop = {loop.together};
  if (!in_body()) side_.calls_of_round.clear();
  std::vector<In> ins;
  for (const NodeId node : looping_) {
    ins.clear();
    resolve(node, ins);
    number(node, ins);
  }
}

bool Numbering::goes_back(NodeId merge) {
  const std::vector<In> ins = inputs_of(merge);
  return std::ranges::any_of(
      ins, [&](const In& in) { return in.real() && is_back_edge(merge, in) && in_value(in).when != kNever; });
}

// Whether the variable goes on where the others of its loop do, which are entered where it is.
bool Numbering::goes_on_with(Loop& loop, NodeId merge) {
  if (condition(merge) == kNever) return !loop.entered.has_value();
  const std::vector<In> ins = inputs_of(merge);
  return std::ranges::all_of(ins, [&](const In& in) {
    if (!in.real() || !is_back_edge(merge, in)) return true;
    const std::optional<Holds> holds = state_.conditions.only(in_value(in).when);
    return holds && holds->branch == 1 && is_as_seen(loop.goes_on, holds->of);
  });
}

// Whether a loop was found whose variables do not come and go together. Of several only the first: what runs
// behind it, or around it, may look as if it did so because of it.
bool Numbering::part_loops(bool all) {
  std::vector<uint32_t> in_order;  // each behind those that run before it
  for (const LoopVariable& variable : loop_variables_) {
    Loop* const loop = loop_of(variable.merge);
    if (loop == nullptr) continue;
    if (!variable.once && !goes_on_with(*loop, variable.merge)) loop->apart = true;
    in_order.push_back(frames().of(variable.merge));
  }
  std::vector<bool> apart(loops_.size()), around(loops_.size());
  for (uint32_t frame = 1; frame < loops_.size(); ++frame) {
    const Loop& loop = loops_[frame];
    const ConditionId entered = loop.entered.value_or(kAlways);
    apart[frame] =
        loop.together && (loop.apart || state_.conditions.both(loop.constants, entered) != entered);
    if (!apart[frame]) continue;
    in_order.push_back(frame);  // it may have no variables
    for (uint32_t outer = frames().frame(frame).parent; outer != 0; outer = frames().frame(outer).parent)
      around[outer] = true;
  }
  bool any = false;
  for (const uint32_t frame : in_order) {
    if (!apart[frame] || (!all && (any || around[frame]))) continue;
    loops_[frame].together = false;
    any = true;
  }
  return any;
}

// Whether any loop was found that takes another iteration.
bool Numbering::part_first_iterations(bool all) {
  // All variables of a loop go on together.
  std::set<uint32_t> around;
  for (const LoopVariable& variable : loop_variables_) {
    if (variable.once && (all || goes_back(variable.merge))) around.insert(frames().of(variable.merge));
  }
  for (LoopVariable& variable : loop_variables_)
    variable.once = variable.once && !around.contains(frames().of(variable.merge));
  return !around.empty();
}

// Whether any variable was found that is not in every iteration what it was in the one before. Where that
// iteration is never taken nothing speaks against it.
bool Numbering::part_staying(bool all) {
  bool any = false;
  const auto part = [&](bool& stays, bool changes) {
    any = any || (stays && changes);
    stays = stays && !changes;
  };
  for (LoopVariable& variable : loop_variables_) {
    if (variable.once || !variable.stays || loop_of(variable.merge) == nullptr) continue;
    const std::optional<Round> round = round_of(variable.merge);
    if (!round) continue;
    const ProofTensor back = in_value(round->back);
    part(variable.stays,
         all || (back.when != kNever && back.what != next(entered(round->entry.outside, true))));
  }
  if (in_body()) return any;
  for (WhileVariable& variable : side_.while_variables)
    part(variable.stays, all || variable.next != variable.unchanged);
  return any;
}

// One after the other: what does not hold may have others look wrong that do.
bool Numbering::settle_assumptions() {
  constexpr int kMostDeep = 8;     // loops in one another of which more is known than that they may go on
  constexpr int kMostPassed = 64;  // variables of which each becomes the next
  constexpr int kMostApart = 64;   // loops of no usual kind
  int deep = 0, passed = 0, apart = 0;
  for (bool any = false;; any = true) {
    if (part_first_iterations(deep >= kMostDeep)) {
      ++deep;
    } else if (part_staying(passed >= kMostPassed)) {
      ++passed;
    } else if (part_loops(apart >= kMostApart)) {
      ++apart;
    } else {
      return any;
    }
    number_again();
  }
}

bool Numbering::refine(std::map<std::vector<uint32_t>, uint32_t>& parts) {
  const auto part_of = [&](std::vector<uint32_t> signature) {
    return parts.try_emplace(std::move(signature), static_cast<uint32_t>(parts.size())).first->second;
  };
  bool more_unknown = false;
  std::vector<uint32_t> found;
  for (LoopVariable& variable : loop_variables_) {
    found.push_back(part_of(signature(variable)));
    if (!variable.unknown && next_is_unknown(variable)) more_unknown = variable.unknown = true;
  }
  for (size_t i = 0; i < found.size(); ++i) loop_variables_[i].part = found[i];
  for (WhileVariable& variable : side_.while_variables) {
    variable.part = part_of({variable.part, kOfALoop, 0, variable.begin, variable.next});
    const bool unknown = state_.classes.unknown(variable.begin) || state_.classes.unknown(variable.next);
    if (!variable.unknown && unknown) more_unknown = variable.unknown = true;
  }
  return more_unknown;
}

void Numbering::give_up_loops() {
  for (LoopVariable& variable : loop_variables_) variable.unknown = true;
  for (WhileVariable& variable : side_.while_variables) variable.unknown = true;
}

void settle_loops(Numbering& a, Numbering& b) {
  constexpr uint64_t kMostWork = 60'000'000;  // nodes numbered again
  uint64_t work = 0;
  size_t parts = 1;
  for (;;) {
    std::map<std::vector<uint32_t>, uint32_t> found;
    bool more_unknown = false;
    for (Numbering* graph : {&a, &b}) more_unknown = graph->settle_assumptions() || more_unknown;
    for (Numbering* graph : {&a, &b}) more_unknown = graph->refine(found) || more_unknown;
    if (found.size() <= parts && !more_unknown) return;
    parts = found.size();
    work += a.loop_nodes() + b.loop_nodes();
    const bool too_much = work > kMostWork;
    for (Numbering* graph : {&a, &b}) {
      if (too_much) graph->give_up_loops();
      graph->number_again();
    }
    if (too_much) return;
  }
}

}  // namespace gedit
