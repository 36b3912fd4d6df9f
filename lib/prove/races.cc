#include "prove/races.h"

#include <algorithm>

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

// What goes back into a loop leads where the loop's variable leads.
bool Races::goes_back(NodeId from, NodeId to) const {
  return graph_.is(from, OpKind::kNextIteration) && graph_.is(to, OpKind::kMerge);
}

// Level by level, in which states are told in the order of the graph; and each close to what it reads, in
// which those that use one state stand close to each other.
void Races::find_order() {
  std::vector<uint32_t> left(graph_.size()), open;
  const auto give = [&](uint32_t i, std::vector<uint32_t>& left_of, std::vector<uint32_t>& ready) {
    for (const NodeId to : consumers_.of(NodeId{i})) {
      if (numbering_.numbered(to) && !goes_back(NodeId{i}, to) && --left_of[index_of(to)] == 0)
        ready.push_back(index_of(to));
    }
  };
  for (uint32_t i = 0; i < graph_.size(); ++i) {
    if (!numbering_.numbered(NodeId{i})) continue;
    for (const NodeId from : side_.producers().of(NodeId{i})) {
      if (numbering_.numbered(from) && !goes_back(from, NodeId{i})) ++left[i];
    }
    if (left[i] == 0) order_.push_back(i);
  }
  open.assign(order_.rbegin(), order_.rend());
  std::vector<uint32_t> left_too = left;
  for (size_t at = 0; at < order_.size(); ++at)  // NOLINT(modernize-loop-convert): it grows
    give(order_[at], left, order_);
  places_.assign(graph_.size(), UINT32_MAX);
  while (!open.empty()) {
    const uint32_t i = open.back();
    open.pop_back();
    places_[i] = static_cast<uint32_t>(close_.size());
    close_.push_back(i);
    give(i, left_too, open);
  }
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
  find_order();
  for (const uint32_t i : order_) {
    const NodeId id{i};
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
      carried = add(op.kinds.has(OpKind::kMakesTensorArray), op.gives_references);
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

// For each node of a part which of `from` lie before it on the way, itself only where that leads around to
// it; nothing leaves the part. With `around` also over what goes back into a loop.
Races::Masks Races::spread(const std::vector<NodeId>& from, Way way, Part part, bool around) const {
  const bool forward = way == Way::kConsumers;
  const Edges& edges = forward ? consumers_ : side_.producers();
  Masks masks(part.size()), own(part.size());
  for (size_t bit = 0; bit < from.size(); ++bit)
    own[places_[index_of(from[bit])] - part.begin] |= uint64_t{1} << bit;
  // Once, but for what goes back to where it was before.
  for (bool again = true; again;) {
    again = false;
    for (uint32_t i = 0; i < part.size(); ++i) {
      const uint32_t at = forward ? i : part.size() - 1 - i;
      const uint64_t mask = masks[at] | own[at];
      if (mask == 0) continue;
      const NodeId id{close_[part.begin + at]};
      for (const NodeId to : edges.of(id)) {
        const uint32_t place = places_[index_of(to)];
        if (!part.has(place)) continue;
        uint64_t& reached = masks[place - part.begin];
        if ((reached | mask) == reached) continue;
        const bool back = forward ? goes_back(id, to) : goes_back(to, id);
        if (back && !around) continue;
        reached |= mask;
        again = again || back;
      }
    }
  }
  return masks;
}

// Nobody else uses the state, and that once.
bool Races::is_used_once(const std::vector<Use>& uses) const {
  return uses.size() == 1 && loops_[index_of(uses[0].node)] == 0;
}

// Holds the part and all that use a state.
Races::Part Races::grown(Part part, const std::vector<Use>& uses) const {
  for (const Use& use : uses) {
    const uint32_t place = places_[index_of(use.node)];
    part = part.size() == 0 ? Part{place, place + 1}
                            : Part{std::min(part.begin, place), std::max(part.end, place + 1)};
  }
  return part;
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
  const Part all{0, static_cast<uint32_t>(close_.size())};
  const bool loops = std::ranges::any_of(loops_, [](uint32_t loop) { return loop != 0; });
  uint64_t work = 0;
  for (uint32_t begin = 0, state = 1; state < uses_.size();) {
    // Up to 64 nodes that write, of whole states or a part of one.
    std::vector<NodeId> writers;
    std::vector<std::pair<uint32_t, uint64_t>> of_state;
    Part part = loops ? all : Part();
    while (state < uses_.size() && writers.size() < kBits) {
      const std::vector<Use>& uses = uses_[state];
      uint64_t mask = 0;
      if (is_used_once(uses)) begin = 1;
      for (; begin < uses.size() && writers.size() < kBits; ++begin) {
        if (!uses[begin].writes) continue;
        mask |= uint64_t{1} << writers.size();
        writers.push_back(uses[begin].node);
      }
      if (mask != 0) {
        of_state.emplace_back(state, mask);
        part = grown(part, uses);
      }
      if (begin < uses.size()) break;
      begin = 0;
      ++state;
    }
    if (writers.empty()) continue;
    work += uint64_t{part.size()} * 4;
    if (work > kMostEdges) {
      too_many_ = true;
      return;
    }
    const Masks after = spread(writers, Way::kConsumers, part, false),
                before = spread(writers, Way::kProducers, part, false);
    const Masks around_after = loops ? spread(writers, Way::kConsumers, part, true) : after;
    const Masks around_before = loops ? spread(writers, Way::kProducers, part, true) : before;
    for (const auto& [of, mask] : of_state) {
      for (const Use& use : uses_[of]) {
        const uint32_t i = index_of(use.node), at = places_[i] - part.begin;
        uint64_t left = mask;
        if (is_array(of) && use.writes) continue;  // of other elements, or none succeeds
        for (; left != 0; left &= left - 1) {
          const auto bit = static_cast<size_t>(__builtin_ctzll(left));
          const uint64_t one = uint64_t{1} << bit;
          const NodeId writer = writers[bit];
          const bool in_order = ((after[at] | before[at]) & one) != 0;
          const bool in_turn = (around_after[at] & around_before[at] & one) != 0;
          const bool same_loop = loops_[i] != 0 && loops_[i] == loops_[index_of(writer)];
          bool fine = in_order || (!same_loop && ((around_after[at] | around_before[at]) & one) != 0);
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
  const Part all{0, static_cast<uint32_t>(close_.size())};
  first_.resize(graph_.size());
  for (size_t begin = 0; begin < found_.size(); begin += kBits) {
    const size_t end = std::min(begin + kBits, found_.size());
    std::vector<NodeId> writers, others;
    for (size_t i = begin; i < end; ++i) {
      writers.push_back(found_[i].writer);
      others.push_back(found_[i].other);
    }
    Masks of_writers = spread(writers, Way::kConsumers, all, true),
          of_others = spread(others, Way::kConsumers, all, true);
    for (size_t i = begin; i < end; ++i) {
      of_writers[places_[index_of(found_[i].writer)]] |= uint64_t{1} << (i - begin);
      of_others[places_[index_of(found_[i].other)]] |= uint64_t{1} << (i - begin);
    }
    for (uint32_t at = 0; at < all.size(); ++at) {
      const uint64_t both = of_writers[at] & of_others[at];
      uint32_t& first = first_[close_[at]];
      if (both != 0 && first == 0)
        first = static_cast<uint32_t>(begin + static_cast<size_t>(__builtin_ctzll(both)) + 1);
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
