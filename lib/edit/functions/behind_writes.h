// Which nodes of a graph, while calls in it give way to nodes, run only when something has been written: a
// call's results wait for all its inputs, and so for that.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "edit/functions/called_function.h"
#include "edit/functions/inlined_graph.h"

namespace gedit {

class BehindWrites {
 public:
  // Both outlive it.
  BehindWrites(const InlinedGraph& graph, CalledFunctions& functions)
      : graph_(graph), functions_(functions) {}

  // It writes itself, or rests on what does. Linear in the graph for all that is asked, as long as nothing
  // with a loop is added.
  bool has(NodeId node);

 private:
  enum class State : uint8_t { kUnknown, kOpen, kPassed, kClean, kBehind };
  struct Step {
    NodeId node;
    std::vector<NodeId> reads;
  };

  void begin();
  State& state(NodeId node);
  bool open(NodeId node);

  const InlinedGraph& graph_;
  CalledFunctions& functions_;
  std::vector<State> states_;
  std::vector<Step> path_;
};

}  // namespace gedit
