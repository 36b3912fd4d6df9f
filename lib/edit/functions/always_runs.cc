#include "edit/functions/always_runs.h"

#include <string>
#include <unordered_set>
#include <utility>

#include "graph/frames.h"
#include "graph/names.h"
#include "graph/wiring.h"
#include "ops/kinds.h"
#include "prove/conditions.h"

namespace gedit {
namespace {

// When each node of a body runs, by its conds and loops; what a node reads before the node.
class Running {
 public:
  Running(const Graph& graph, const Names& names) : graph_(graph), names_(names), of_(graph.size()) {}

  ConditionId when(NodeId root) {
    std::vector<NodeId> open{root};
    while (!open.empty()) {
      const NodeId id = open.back();
      Node& node = of_[index_of(id)];
      if (node.when || node.open) {
        if (!node.when) node.when = decide(id);
        open.pop_back();
        continue;
      }
      node.open = true;
      for (const auto& [from, input] : inputs(id)) {
        if (!graph_.is(from, OpKind::kNextIteration) && !of_[index_of(from)].open) open.push_back(from);
      }
    }
    return *of_[index_of(root)].when;
  }

 private:
  struct Node {
    bool open = false;
    std::optional<ConditionId> when;
  };

  std::vector<std::pair<NodeId, Input>> inputs(NodeId id) const {
    std::vector<std::pair<NodeId, Input>> found;
    each_input(graph_.bytes(id), [&](std::string_view text) {
      const Input input = parse_input_of(graph_, text);
      if (const NodeId from = names_.find(input.node); from != kNoNode) found.emplace_back(from, input);
    });
    return found;
  }

  ClassId source(std::string_view text) {
    return classes_.intern(classes_.label(KeyForm::kSource, text), {});
  }
  // By nothing that is known.
  ConditionId at_times(NodeId id) {
    return conditions_.with(kAlways, {source(graph_.name(id)), Holds::kAlive});
  }

  // When all runs that the node reads; of a Merge one of two sides will do.
  ConditionId decide(NodeId id) {
    const bool merge = graph_.is(id, OpKind::kMerge);
    std::vector<ConditionId> read;
    bool again = false;
    for (const auto& [from, input] : inputs(id)) {
      const std::optional<ConditionId> when = of_[index_of(from)].when;
      if (graph_.is(from, OpKind::kNextIteration)) {
        again = true;  // a loop's Merge
      } else if (!when) {
        return at_times(id);                  // a circle
      } else if (!merge || !input.control) {  // a Merge waits for what is there or not
        const bool side = graph_.is(from, OpKind::kSwitch) && !input.control;
        read.push_back(side ? of_side(from, input, *when) : *when);
      }
    }
    if (merge && !again) return of_either(id, std::move(read));
    ConditionId all = kAlways;
    for (const ConditionId one : read) all = conditions_.both(all, one);
    return all;
  }

  // A loop's Switch asks a LoopCond, and says nothing of how often the loop runs.
  ConditionId of_side(NodeId id, const Input& input, ConditionId when) {
    const std::vector<std::string_view> read = input_views(graph_.bytes(id));
    if (read.size() < 2) return at_times(id);
    // tf.cond asks the predicate itself here and an Identity of it there.
    std::string_view predicate = read[1];
    NodeId from = names_.find(parse_input_of(graph_, predicate).node);
    for (size_t steps = 0; from != kNoNode && graph_.is(from, OpKind::kIdentity) && steps < of_.size();
         ++steps) {
      const std::vector<std::string_view> given = input_views(graph_.bytes(from));
      if (given.empty()) break;
      predicate = given[0];
      from = names_.find(parse_input_of(graph_, predicate).node);
    }
    if (from != kNoNode && graph_.is(from, OpKind::kLoopCond)) return when;
    const bool right = graph_.is_body() ? input.port.starts_with("output_true") : input.index() == 1U;
    return conditions_.with(when, {source(predicate), right ? 1U : 0U});
  }

  // Of more than two pair by pair.
  ConditionId of_either(NodeId id, std::vector<ConditionId> all) {
    while (all.size() > 1) {
      const ConditionId last = all.back();
      all.pop_back();
      bool any = false;
      for (ConditionId& other : all) {
        const auto common = conditions_.either(last, other);
        if (!common) continue;
        other = *common;
        any = true;
        break;
      }
      if (!any) return at_times(id);
    }
    return all.empty() ? at_times(id) : all[0];
  }

  const Graph& graph_;
  const Names& names_;
  std::vector<Node> of_;
  Classes classes_;
  Conditions conditions_{classes_};
};

}  // namespace

void AlwaysRuns::read() {
  const Names names(body_);
  const Edges sources = producers(body_, names);
  const Frames frames(body_, sources);
  readers_ = reversed(sources);
  always_.resize(body_.size());
  Running running(body_, names);
  for (uint32_t i = 0; i < body_.size(); ++i) {
    const NodeId id{i};
    if (!body_.removed(id)) always_[i] = running.when(id) == kAlways && frames.of_output(id) == 0;
  }
}

std::vector<uint32_t> AlwaysRuns::behind(const std::vector<uint32_t>& nodes, std::optional<uint32_t>& lost) {
  if (!readers_ && !nodes.empty()) read();
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
      for (const NodeId reader : readers_->of(NodeId{at})) {
        if (seen.insert(index_of(reader)).second) open.push_back(index_of(reader));
      }
    }
    if (!any && !lost) lost = node;
  }
  return found;
}

}  // namespace gedit
