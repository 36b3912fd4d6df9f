#include "edit/functions/behind_writes.h"

#include "graph/edges.h"
#include "graph/names.h"
#include "graph/wiring.h"

namespace gedit {

BehindWrites::State& BehindWrites::state(NodeId node) {
  if (index_of(node) >= states_.size()) states_.resize(graph_.graph().size());
  return states_[index_of(node)];
}

// Steps onto the node; whether it is one of those.
bool BehindWrites::open(NodeId node) {
  const std::string_view node_def = graph_.graph().bytes(node);
  if (functions_.writes(node_def)) {
    state(node) = State::kBehind;
    return true;
  }
  state(node) = State::kOpen;
  Step step{node, {}};
  each_input(node_def, [&](std::string_view input) {
    const NodeId read = input.starts_with('^') ? graph_.find(input.substr(1)) : graph_.producer(input);
    if (read != kNoNode) step.reads.push_back(read);
  });
  path_.push_back(std::move(step));
  return false;
}

// What is there at first, by going on from what writes; what is added later asks for what it reads.
void BehindWrites::begin() {
  const Graph& graph = graph_.graph();
  const Names names(graph);
  NodeSet writers(graph.size());
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (!graph.removed(NodeId{i}) && functions_.writes(graph.bytes(NodeId{i}))) writers.add(NodeId{i});
  }
  const NodeSet behind =
      writers.empty() ? writers : reach(writers, reversed(producers(graph, names)), kAnyDistance);
  states_.resize(graph.size(), State::kClean);
  for (const NodeId id : behind.nodes()) states_[index_of(id)] = State::kBehind;
}

bool BehindWrites::has(NodeId node) {
  if (states_.empty()) begin();
  if (state(node) != State::kUnknown) return state(node) == State::kBehind;
  std::vector<NodeId> passed;
  bool circles = false;
  bool found = open(node);
  while (!found && !path_.empty()) {
    Step& step = path_.back();
    if (step.reads.empty()) {
      state(step.node) = State::kPassed;
      passed.push_back(step.node);
      path_.pop_back();
      continue;
    }
    const NodeId read = step.reads.back();
    step.reads.pop_back();
    const State known = state(read);
    circles = circles || known == State::kOpen;
    found = known == State::kBehind || (known == State::kUnknown && open(read));
  }
  // All on the path rest on what was found; and what is passed did not lead there, but where it leads back.
  const State clean = found && circles ? State::kUnknown : State::kClean;
  for (const NodeId one : passed) state(one) = clean;
  for (const Step& step : path_) state(step.node) = State::kBehind;
  path_.clear();
  return found;
}

}  // namespace gedit
