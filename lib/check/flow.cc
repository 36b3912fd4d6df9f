#include "check/flow.h"

#include <algorithm>
#include <map>

#include "graph/frames.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr size_t kMostCycles = 20;  // reported; one fault often makes many
constexpr size_t kMostOfCycle = 5;  // nodes of a cycle

// For each node how many inputs must have been made before it can be (graph_constructor.cc, InitFromEdges).
std::vector<int64_t> pending_inputs(const CheckedGraph& in) {
  std::vector<int64_t> pending(in.graph.size());
  for (uint32_t i = 0; i < in.graph.size(); ++i) {
    const NodeId id{i};
    const std::span<const NodeId> producers = in.producers.of(id);
    pending[i] = static_cast<int64_t>(producers.size());
    if (!in.graph.is(id, OpKind::kMerge)) continue;
    const bool loop = std::ranges::any_of(
        producers, [&](NodeId producer) { return in.graph.is(producer, OpKind::kNextIteration); });
    if (!loop) continue;
    pending[i] = 1;
    each_input(in.graph.bytes(id), [&](std::string_view input) {
      pending[i] += input.starts_with('^') && in.find(input) != kNoNode ? 1 : 0;
    });
  }
  return pending;
}

// Whether each node stands behind all that it reads, as writers of graphs mostly put them.
bool in_order_of_reading(const CheckedGraph& in) {
  for (uint32_t i = 0; i < in.graph.size(); ++i) {
    for (const NodeId producer : in.producers.of(NodeId{i})) {
      if (index_of(producer) >= i) return false;
    }
  }
  return true;
}

std::string cycle_text(const CheckedGraph& in, const std::vector<NodeId>& cycle) {
  std::string text;
  for (size_t i = 0; i < cycle.size() && i < kMostOfCycle; ++i) {
    text += (i == 0 ? "" : " -> ") + std::string(in.graph.name(cycle[i]));
  }
  if (cycle.size() > kMostOfCycle) text += " -> ... " + std::to_string(cycle.size() - kMostOfCycle) + " more";
  return text + " -> " + std::string(in.graph.name(cycle[0]));
}

std::string frame_text(std::string_view name) {
  return name.empty() ? std::string("no frame") : "frame '" + std::string(name) + "'";
}

// Sessions that run one outside of a loop do not come back (common_runtime/executor.cc). One that a Merge
// reads is of a loop of which something else is wrong.
void check_ends_of_loops(const CheckedGraph& in, const Frames& frames, const NodeSet* only, Report& report) {
  for (uint32_t i = 0; i < in.graph.size(); ++i) {
    const NodeId id{i};
    if (!in.graph.is(id, OpKind::kExit | OpKind::kNextIteration) || frames.of(id) != 0) continue;
    if (only != nullptr && !only->has(id)) continue;
    const auto is_merge = [&](NodeId reader) { return in.graph.is(reader, OpKind::kMerge); };
    if (std::ranges::none_of(in.consumers().of(id), is_merge))
      report.add(Rule::kFrame, in.subject(id), std::string(in.graph.op(id)) + " outside of loops");
  }
}

}  // namespace

void check_cycles(const CheckedGraph& in, const NodeSet* only, Report& report) {
  if (in_order_of_reading(in)) return;
  std::vector<int64_t> pending = pending_inputs(in);
  std::vector<NodeId> ready;
  for (uint32_t i = 0; i < pending.size(); ++i) {
    if (pending[i] == 0) ready.push_back(NodeId{i});
  }
  const Edges& consumers = in.consumers();
  uint64_t done = 0;
  while (!ready.empty()) {
    const NodeId id = ready.back();
    ready.pop_back();
    ++done;
    for (const NodeId reader : consumers.of(id)) {
      if (--pending[index_of(reader)] == 0) ready.push_back(reader);
    }
  }
  if (done == pending.size()) return;
  // A node that is left reads one that is left; going back from any of them ends in a cycle.
  std::vector<uint32_t> walk(pending.size());  // the walk that came by, 0: none
  uint32_t number = 0;
  size_t told = 0;
  for (uint32_t i = 0; i < pending.size() && told < kMostCycles; ++i) {
    if (pending[i] <= 0 || walk[i] != 0) continue;
    ++number;
    std::vector<NodeId> path;
    NodeId id{i};
    while (walk[index_of(id)] == 0) {
      walk[index_of(id)] = number;
      path.push_back(id);
      const std::span<const NodeId> producers = in.producers.of(id);
      const auto next =
          std::ranges::find_if(producers, [&](NodeId producer) { return pending[index_of(producer)] > 0; });
      if (next == producers.end()) break;
      id = *next;
    }
    if (walk[index_of(id)] != number) continue;  // it leads to a cycle that was told
    const auto start = std::find(path.begin(), path.end(), id);
    if (start == path.end()) continue;
    std::vector<NodeId> cycle(start, path.end());
    std::reverse(cycle.begin(), cycle.end());
    if (only != nullptr && !only->has(cycle[0])) continue;
    ++told;
    report.add(Rule::kCycle, in.subject(cycle[0]),
               cycle.size() == 1
                   ? std::string("reads itself")
                   : "a cycle of " + std::to_string(cycle.size()) + " nodes: " + cycle_text(in, cycle));
  }
}

void check_frames(const CheckedGraph& in, const NodeSet* only, Report& report) {
  const Frames frames(in.graph, in.producers);
  check_ends_of_loops(in, frames, only, report);
  if (!frames.any()) return;
  std::map<std::string_view, std::vector<NodeId>> conditions;
  std::map<std::string_view, std::string_view> parents;
  const auto name_of = [&](uint32_t frame) { return frames.frame(frame).name; };
  for (uint32_t i = 0; i < in.graph.size(); ++i) {
    const NodeId id{i};
    if (only != nullptr && !only->has(id)) continue;
    const uint32_t frame = frames.of(id);
    const bool enter = in.graph.is(id, OpKind::kEnter);
    if (enter) {
      const std::string_view name = name_of(frame), parent = name_of(frames.frame(frame).parent);
      if (name.empty()) report.add(Rule::kFrame, in.subject(id), "an Enter without frame_name");
      const auto [known, fresh] = parents.emplace(name, parent);
      if (!fresh && known->second != parent && !name.empty()) {
        report.add(Rule::kFrame, in.subject(name),
                   "opened from " + frame_text(known->second) + " and, by '" +
                       std::string(in.graph.name(id)) + "', from " + frame_text(parent));
        known->second = parent;
      }
    }
    if (in.graph.is(id, OpKind::kLoopCond)) conditions[name_of(frame)].push_back(id);
    const std::string_view expected = enter ? name_of(frames.frame(frame).parent) : name_of(frame);
    for (const NodeId producer : in.producers.of(id)) {
      const std::string_view from = name_of(frames.of_output(producer));
      if (from == expected) continue;
      report.add(Rule::kFrame, in.subject(id),
                 "reads '" + std::string(in.graph.name(producer)) + "' in " + frame_text(from) +
                     ", its other inputs are in " + frame_text(expected));
      break;
    }
  }
  for (const auto& [frame, nodes] : conditions) {
    // Counters of gradients run in the frame of their loop (graph/control_flow.cc).
    std::string list;
    size_t loops = 0;
    for (const NodeId id : nodes) {
      const std::string_view name = in.graph.name(id);
      if (name.find("LoopCounter") != std::string_view::npos) continue;
      list += (loops++ == 0 ? "'" : ", '") + std::string(name) + "'";
    }
    static constexpr const char* kWords[] = {"", "", "two", "three", "four", "five"};
    const std::string number = loops < std::size(kWords) ? kWords[loops] : std::to_string(loops);
    if (loops > 1) report.add(Rule::kFrame, in.subject(frame), number + " loops share this frame: " + list);
  }
}

}  // namespace gedit
