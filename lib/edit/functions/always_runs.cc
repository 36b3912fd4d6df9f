#include "edit/functions/always_runs.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "graph/frames.h"
#include "graph/names.h"
#include "graph/wiring.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// The sides of Switches that a tensor is there for: a predicate's number twice, and 1 for its true side;
// sorted.
using Sides = std::vector<uint64_t>;

Sides in_either(const Sides& a, const Sides& b) {
  Sides both;
  std::ranges::set_union(a, b, std::back_inserter(both));
  return both;
}

}  // namespace

// Of one body: the sides that each node is there for, what a node reads before the node.
struct AlwaysRuns::Read {
  explicit Read(const Graph& graph) : graph(graph), names(graph), of(graph.size()) {}

  struct Node {
    bool done = false, open = false;
    bool sure = true;  // all that it is there for is told by `sides`
    Sides sides;
  };

  std::vector<std::pair<NodeId, Input>> inputs(NodeId id) const {
    std::vector<std::pair<NodeId, Input>> found;
    each_input(graph.bytes(id), [&](std::string_view text) {
      const Input input = parse_input_of(graph, text);
      if (const NodeId from = names.find(input.node); from != kNoNode) found.emplace_back(from, input);
    });
    return found;
  }

  void look_at(NodeId root) {
    std::vector<NodeId> open{root};
    while (!open.empty()) {
      const NodeId id = open.back();
      Node& node = of[index_of(id)];
      if (node.done) {
        open.pop_back();
        continue;
      }
      if (node.open) {
        decide(id, node);
        node.done = true;
        open.pop_back();
        continue;
      }
      node.open = true;
      for (const auto& [from, input] : inputs(id)) {
        const Node& other = of[index_of(from)];
        if (!graph.is(from, OpKind::kNextIteration) && !other.open) open.push_back(from);
      }
    }
  }

  // What the node is given for is what all that it reads is there for; of a Merge one of two will do.
  void decide(NodeId id, Node& node) {
    const bool merge = graph.is(id, OpKind::kMerge);
    std::vector<Sides> read;
    bool again = false;
    for (const auto& [from, input] : inputs(id)) {
      if (graph.is(from, OpKind::kNextIteration)) {
        again = true;  // a loop's Merge
        continue;
      }
      if (merge && input.control) continue;  // which it waits for, there or not
      const Node& other = of[index_of(from)];
      node.sure = node.sure && other.done && other.sure;
      read.push_back(other.sides);
      if (graph.is(from, OpKind::kSwitch) && !input.control) add_side(from, input, node, read.back());
    }
    if (merge && !again) {
      const std::optional<Sides> merged = without_branches(std::move(read));
      node.sure = node.sure && merged.has_value();
      if (merged) node.sides = *merged;
      return;
    }
    for (const Sides& one : read) node.sides = in_either(node.sides, one);
    for (size_t i = 1; i < node.sides.size(); ++i)
      node.sure = node.sure && node.sides[i] != (node.sides[i - 1] ^ 1);  // else it never runs
  }

  std::vector<std::string_view> data_of(NodeId id) const {
    std::vector<std::string_view> data = input_views(graph.bytes(id));
    std::erase_if(data, [](std::string_view text) { return text.starts_with('^'); });
    return data;
  }

  // A loop's Switch asks a LoopCond, and says nothing of how often the loop runs.
  void add_side(NodeId id, const Input& input, Node& node, Sides& sides) {
    const std::vector<std::string_view> data = data_of(id);
    if (data.size() != 2) {
      node.sure = false;
      return;
    }
    // tf.cond asks the predicate itself here and an Identity of it there.
    std::string_view predicate = data[1];
    NodeId from = names.find(parse_input_of(graph, predicate).node);
    for (size_t steps = 0; from != kNoNode && graph.is(from, OpKind::kIdentity) && steps < of.size();
         ++steps) {
      predicate = data_of(from).empty() ? predicate : data_of(from)[0];
      from = names.find(parse_input_of(graph, predicate).node);
    }
    if (from != kNoNode && graph.is(from, OpKind::kLoopCond)) return;
    const bool right = graph.is_body() ? input.port.starts_with("output_true") : input.index() == 1U;
    const uint64_t side =
        2 * predicates.try_emplace(std::string(predicate), predicates.size()).first->second + (right ? 1 : 0);
    sides = in_either(sides, {side});
  }

  // What is there for either of both sides of a Switch is there for what both ask for beside it; of more than
  // two, pair by pair.
  static std::optional<Sides> without_branches(std::vector<Sides> all) {
    while (all.size() > 1) {
      const Sides last = std::move(all.back());
      all.pop_back();
      bool any = false;
      for (Sides& other : all) {
        const std::optional<Sides> both = without_branch(last, other);
        if (!both) continue;
        other = *both;
        any = true;
        break;
      }
      if (!any) return std::nullopt;
    }
    return all.empty() ? std::nullopt : std::optional(std::move(all[0]));
  }
  static std::optional<Sides> without_branch(const Sides& a, const Sides& b) {
    Sides only_a, only_b, both;
    std::ranges::set_difference(a, b, std::back_inserter(only_a));
    std::ranges::set_difference(b, a, std::back_inserter(only_b));
    if (only_a.size() != 1 || only_b.size() != 1 || only_a[0] != (only_b[0] ^ 1)) return std::nullopt;
    std::ranges::set_intersection(a, b, std::back_inserter(both));
    return both;
  }

  const Graph& graph;
  const Names names;
  std::vector<Node> of;
  std::unordered_map<std::string, uint64_t> predicates;  // as an input writes them
};

void AlwaysRuns::read() {
  known_ = true;
  Read read(body_);
  const Frames frames(body_, producers(body_, read.names));
  always_.resize(body_.size());
  readers_.resize(body_.size());
  for (uint32_t i = 0; i < body_.size(); ++i) {
    const NodeId id{i};
    if (body_.removed(id)) continue;
    read.look_at(id);
    always_[i] = read.of[i].sure && read.of[i].sides.empty() && frames.of_output(id) == 0;
    for (const auto& [from, input] : read.inputs(id)) readers_[index_of(from)].push_back(i);
  }
}

std::vector<uint32_t> AlwaysRuns::behind(const std::vector<uint32_t>& nodes, std::optional<uint32_t>& lost) {
  if (!known_ && !nodes.empty()) read();
  std::vector<uint32_t> found;
  std::unordered_set<uint32_t> all;
  for (const uint32_t node : nodes) {
    std::vector<uint32_t> open{node};
    std::unordered_set<uint32_t> seen{node};
    bool any = false;
    while (!open.empty()) {
      const uint32_t at = open.back();
      open.pop_back();
      if (always_[at]) {
        any = true;
        if (all.insert(at).second) found.push_back(at);
        continue;
      }
      for (const uint32_t reader : readers_[at]) {
        if (seen.insert(reader).second) open.push_back(reader);
      }
    }
    if (!any && !lost) lost = node;
  }
  return found;
}

}  // namespace gedit
