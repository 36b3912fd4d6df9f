#include "prove/races.h"

#include <algorithm>
#include <deque>

#include "graph/wiring.h"

namespace gedit {
namespace {

constexpr size_t kBits = 64;
constexpr uint64_t kMostEdges = 3'000'000'000;  // edges that are gone along
constexpr size_t kMostFound = 4096;

constexpr OpKinds kHandsOn = OpKind::kSwitch | OpKind::kEnter | OpKind::kExit | OpKind::kNextIteration;
constexpr OpKinds kCallOps = OpKind::kCall | OpKind::kIf | OpKind::kCase | OpKind::kWhile;

bool hands_out_state(const ProofOp& op) {
  return std::ranges::any_of(op.def.outputs, [](const ArgDef& arg) {
    return arg.is_ref || arg.type == static_cast<int32_t>(DType::kResource);
  });
}

// Whether an op that writes does so to what its input `i` leads to.
bool writes_input(const ProofOp& op, size_t i) {
  const bool lists = std::ranges::any_of(op.def.inputs, [](const ArgDef& arg) {
    return !arg.number_attr.empty() || !arg.type_list_attr.empty();
  });
  if (lists || i >= op.def.inputs.size()) return true;
  return op.def.inputs[i].is_ref || op.def.inputs[i].type == static_cast<int32_t>(DType::kResource);
}

}  // namespace

Races::Races(Side& side, ProofState& state, Numbering& numbering)
    : side_(side), state_(state), numbering_(numbering), graph_(side.graph()) {
  if (!holds_writers()) return;
  consumers_ = reversed(side.producers());
  follow_handles();
  find_outermost_loops();
  find();
}

bool Races::holds_writers() {
  for (uint32_t i = 0; i < graph_.size(); ++i) {
    if (!numbering_.numbered(NodeId{i})) continue;
    const ProofOp& op = side_.op(NodeId{i});
    if (op.conduct == Conduct::kWrites || op.kinds.has(OpKind::kWritesElements)) return true;
  }
  return false;
}

// --- which state a node leads to ---

uint32_t Races::state_of(uint32_t id) {
  while (joined_[id] != id) id = joined_[id] = joined_[joined_[id]];
  return id;
}

// Nobody knows which of the two it is.
void Races::join(uint32_t a, uint32_t b) {
  a = state_of(a);
  b = state_of(b);
  joined_[b] = a;
  arrays_[a] = arrays_[a] && arrays_[b];
  references_[a] = references_[a] || references_[b];
}

void Races::follow_handles() {
  carries_.resize(graph_.size());
  const auto add = [&](bool array, bool reference) {
    joined_.push_back(static_cast<uint32_t>(joined_.size()));
    arrays_.push_back(array);
    references_.push_back(reference);
    return joined_.back();
  };
  add(false, false);  // none
  // What goes back into a loop leads where the loop's variable leads.
  std::vector<uint32_t> left(graph_.size());
  const auto goes_back = [&](NodeId from, NodeId to) {
    return graph_.is(from, OpKind::kNextIteration) && graph_.is(to, OpKind::kMerge);
  };
  for (uint32_t i = 0; i < graph_.size(); ++i) {
    if (!numbering_.numbered(NodeId{i})) continue;
    for (const NodeId from : side_.producers().of(NodeId{i})) {
      if (numbering_.numbered(from) && !goes_back(from, NodeId{i})) ++left[i];
    }
    if (left[i] == 0) order_.push_back(i);
  }
  for (size_t at = 0; at < order_.size(); ++at) {
    const NodeId id{order_[at]};
    for (const NodeId to : consumers_.of(id)) {
      if (numbering_.numbered(to) && !goes_back(id, to) && --left[index_of(to)] == 0)
        order_.push_back(index_of(to));
    }
    const ProofOp& op = side_.op(id);
    uint32_t& carried = carries_[index_of(id)];
    const bool call = op.kinds.has_any(kCallOps) || side_.body(op.name) != nullptr;
    std::vector<uint32_t> read;  // by input
    each_input(graph_.bytes(id), [&](std::string_view text) {
      if (text.starts_with('^')) return;
      const Input input = parse_input(text);
      const NodeId from = side_.names().find(input.node);
      // The flow that a TensorArray begins with is no handle.
      const bool none = from == kNoNode || (input.index() != 0 && graph_.is(from, OpKind::kTensorArray));
      read.push_back(none ? 0 : carries_[index_of(from)]);
    });
    const uint32_t first = read.empty() ? 0 : read[0];
    const bool all = op.conduct == Conduct::kPasses || op.kinds.has(OpKind::kMerge) || op.gives_references;
    if (call || (all && op.conduct != Conduct::kWrites && !op.kinds.has(OpKind::kSwitch))) {
      for (const uint32_t state : read) {
        if (state == 0 || (carried != 0 && state_of(carried) == state_of(state))) continue;
        if (carried == 0) {
          carried = state;
        } else if (call) {
          carried = 0;  // nobody knows which
          break;
        } else {
          join(carried, state);
        }
      }
    } else if (op.gives_references || op.kinds.has_any(kHandsOn | OpKind::kGivesView)) {
      carried = first;
    }
    if (op.kinds.has(OpKind::kTensorArrayGradient) && first != 0) {
      const std::string key = std::to_string(state_of(first)) + " " +
                              std::string(string_attr(graph_.bytes(id), "source").value_or(""));
      const auto [found, fresh] = gradients_.try_emplace(key, 0);
      if (fresh) found->second = add(true, false);
      carried = found->second;
    } else if (carried == 0 && (call || op.conduct == Conduct::kState || op.conduct == Conduct::kFresh ||
                                (op.conduct == Conduct::kWrites && hands_out_state(op)))) {
      carried = add(op.conduct == Conduct::kFresh, op.gives_references);
    }
  }
  for (const uint32_t i : order_) {
    const NodeId id{i};
    if (!graph_.is(id, OpKind::kMerge) || carries_[i] == 0) continue;
    for (const NodeId from : side_.producers().of(id)) {
      const uint32_t back = carries_[index_of(from)];
      if (back != 0) join(carries_[i], back);
    }
  }
  uses_.resize(joined_.size());
  for (const uint32_t i : order_) use_handles(NodeId{i});
}

void Races::use_handles(NodeId node) {
  const ProofOp& op = side_.op(node);
  // Who hands on a handle uses nothing; who hands on a reference hands on the memory as it is.
  const bool hands_on =
      op.conduct == Conduct::kPasses || op.kinds.has_any(kHandsOn) || op.kinds.has(OpKind::kMerge);
  size_t slot = 0;
  std::vector<std::pair<uint32_t, bool>> states;
  each_input(graph_.bytes(node), [&](std::string_view text) {
    const size_t i = slot++;
    if (text.starts_with('^')) return;
    const Input input = parse_input(text);
    const NodeId from = side_.names().find(input.node);
    if (from == kNoNode || carries_[index_of(from)] == 0) return;
    if (input.index() != 0 && graph_.is(from, OpKind::kTensorArray)) return;
    const uint32_t state = state_of(carries_[index_of(from)]);
    if (hands_on && !references_[state]) return;
    const bool writes = is_array(state) ? op.kinds.has(OpKind::kWritesElements)
                                        : op.conduct == Conduct::kWrites && writes_input(op, i);
    const auto known = std::ranges::find(states, state, &std::pair<uint32_t, bool>::first);
    if (known == states.end()) {
      states.emplace_back(state, writes);
    } else {
      known->second = known->second || writes;
    }
  });
  for (const auto& [state, writes] : states) uses_[state].push_back({node, writes});
}

void Races::find_outermost_loops() {
  loops_.resize(graph_.size());
  std::unordered_map<std::string_view, uint32_t> known;
  for (const uint32_t i : order_) {
    const NodeId id{i};
    uint32_t loop = 0;
    for (const NodeId from : side_.producers().of(id)) loop = std::max(loop, loops_[index_of(from)]);
    const uint32_t depth = numbering_.loops_around(id);
    if (depth == 0) {
      loop = 0;
    } else if (loop == 0) {
      const std::string_view frame = string_attr(graph_.bytes(id), "frame_name").value_or("");
      loop = known.try_emplace(frame, static_cast<uint32_t>(known.size() + 1)).first->second;
    }
    loops_[i] = loop;
  }
}

// --- what is in no order ---

// For each node which of `from` lie before it along the edges, itself only where they lead around to it.
// With `around` also over what goes back into a loop.
Races::Masks Races::spread(const std::vector<NodeId>& from, const Edges& edges, bool around) const {
  Masks masks(graph_.size());
  std::deque<NodeId> open;
  std::vector<bool> waits(graph_.size());
  const auto give = [&](NodeId id, uint64_t mask) {
    for (const NodeId to : edges.of(id)) {
      if (!numbering_.numbered(to) || (masks[index_of(to)] | mask) == masks[index_of(to)]) continue;
      const bool back = (graph_.is(id, OpKind::kNextIteration) && graph_.is(to, OpKind::kMerge)) ||
                        (graph_.is(id, OpKind::kMerge) && graph_.is(to, OpKind::kNextIteration));
      if (back && !around) continue;
      masks[index_of(to)] |= mask;
      if (!waits[index_of(to)]) open.push_back(to);
      waits[index_of(to)] = true;
    }
  };
  for (size_t bit = 0; bit < from.size(); ++bit) give(from[bit], uint64_t{1} << bit);
  while (!open.empty()) {
    const NodeId id = open.front();
    open.pop_front();
    waits[index_of(id)] = false;
    give(id, masks[index_of(id)]);
  }
  return masks;
}

// Elements of a TensorArray at places that are known to be others.
bool Races::apart(NodeId writer, NodeId other) {
  const auto place = [&](NodeId id) -> std::optional<int32_t> {
    if (!graph_.is(id, OpKind::kTakesElement)) return std::nullopt;
    std::optional<int32_t> found;
    size_t slot = 0;
    each_input(graph_.bytes(id), [&](std::string_view text) {
      if (slot++ == 1) found = state_.int32_scalar(numbering_.value_of(text).what);
    });
    return found;
  };
  const auto a = place(writer), b = place(other);
  return a && b && *a != *b;
}

void Races::find() {
  uint64_t work = 0;
  for (uint32_t begin = 0, state = 1; state < uses_.size();) {
    // Up to 64 nodes that write, of whole states or a part of one.
    std::vector<NodeId> writers;
    std::vector<std::pair<uint32_t, uint64_t>> of_state;
    while (state < uses_.size() && writers.size() < kBits) {
      const std::vector<Use>& uses = uses_[state];
      uint64_t mask = 0;
      for (; begin < uses.size() && writers.size() < kBits; ++begin) {
        if (!uses[begin].writes) continue;
        mask |= uint64_t{1} << writers.size();
        writers.push_back(uses[begin].node);
      }
      if (mask != 0) of_state.emplace_back(state, mask);
      if (begin < uses.size()) break;
      begin = 0;
      ++state;
    }
    if (writers.empty()) continue;
    work += order_.size() * 4;
    if (work > kMostEdges) {
      too_many_ = true;
      return;
    }
    const Masks after = spread(writers, consumers_, false),
                before = spread(writers, side_.producers(), false);
    const bool loops = std::ranges::any_of(loops_, [](uint32_t loop) { return loop != 0; });
    const Masks around_after = loops ? spread(writers, consumers_, true) : after;
    const Masks around_before = loops ? spread(writers, side_.producers(), true) : before;
    for (const auto& [of, mask] : of_state) {
      for (const Use& use : uses_[of]) {
        const uint32_t i = index_of(use.node);
        uint64_t left = mask;
        if (is_array(of) && use.writes) continue;  // of other elements, or none succeeds
        for (; left != 0; left &= left - 1) {
          const auto bit = static_cast<size_t>(__builtin_ctzll(left));
          const uint64_t one = uint64_t{1} << bit;
          const NodeId writer = writers[bit];
          const bool in_order = ((after[i] | before[i]) & one) != 0;
          const bool in_turn = (around_after[i] & around_before[i] & one) != 0;
          const bool same_loop = loops_[i] != 0 && loops_[i] == loops_[index_of(writer)];
          bool fine = in_order || (!same_loop && ((around_after[i] | around_before[i]) & one) != 0);
          if (same_loop && !is_array(of)) fine = (fine || writer == use.node) && in_turn;
          if (!same_loop && writer == use.node) fine = true;
          if (fine || (is_array(of) && apart(writer, use.node)) ||
              state_.conditions.exclude(numbering_.condition(writer), numbering_.condition(use.node)))
            continue;
          found_.push_back({writer, use.node});
        }
        if (found_.size() > kMostFound) {
          too_many_ = true;
          return;
        }
      }
    }
  }
  mark();
}

// Whoever rests on both nodes of one rests on that.
void Races::mark() {
  if (found_.empty()) return;
  first_.resize(graph_.size());
  for (size_t begin = 0; begin < found_.size(); begin += kBits) {
    const size_t end = std::min(begin + kBits, found_.size());
    std::vector<NodeId> writers, others;
    for (size_t i = begin; i < end; ++i) {
      writers.push_back(found_[i].writer);
      others.push_back(found_[i].other);
    }
    Masks of_writers = spread(writers, consumers_, true), of_others = spread(others, consumers_, true);
    for (size_t i = begin; i < end; ++i) {
      of_writers[index_of(found_[i].writer)] |= uint64_t{1} << (i - begin);
      of_others[index_of(found_[i].other)] |= uint64_t{1} << (i - begin);
    }
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      const uint64_t both = of_writers[i] & of_others[i];
      if (both != 0 && first_[i] == 0)
        first_[i] = static_cast<uint32_t>(begin + static_cast<size_t>(__builtin_ctzll(both)) + 1);
    }
  }
}

std::optional<Races::Race> Races::of(NodeId node) {
  if (too_many_) return Race{"", "has too many nodes that write"};
  if (found_.empty()) return std::nullopt;
  if (first_[index_of(node)] == 0) return std::nullopt;
  const Found& race = found_[first_[index_of(node)] - 1];
  if (race.writer == race.other)
    return Race{std::string(graph_.name(race.writer)), "writes in every iteration, in no order"};
  return Race{std::string(graph_.name(race.writer)),
              "writes what '" + std::string(graph_.name(race.other)) + "' uses, in no order"};
}

}  // namespace gedit
