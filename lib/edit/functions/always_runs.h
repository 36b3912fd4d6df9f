// Nodes of a function's body that run once in each call, whatever its conds and loops of TensorFlow 1 decide:
// who waits for another node may wait for what never comes (docs/tensorflow.md#dead-tensors).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/edges.h"
#include "graph/graph.h"

namespace gedit {

// Asked of a few nodes of a body, which is read through at the first question.
class AlwaysRuns {
 public:
  explicit AlwaysRuns(const Graph& body) : body_(body) {}

  // For each of `nodes` itself, or where it lies in a branch or a loop the next ones behind it that do not:
  // they run when it has, and it is left out or not. A node without any of them is given to `lost`.
  std::vector<uint32_t> behind(const std::vector<uint32_t>& nodes, std::optional<uint32_t>& lost);

 private:
  void read();

  const Graph& body_;
  std::vector<bool> always_;  // by node
  std::optional<Edges> readers_;
};

}  // namespace gedit
