// Control inputs that hold a node to one side of a v1 cond, as the pivots of TensorFlow's CondContext do.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "edit/basis/names.h"
#include "graph/graph.h"

namespace gedit {

// A Switch is never dead itself, so what waits for the node runs on both sides: an Identity of the one output
// stands between (docs/tensorflow.md#dead-tensors). Graph and names outlive it.
class Pivots {
 public:
  Pivots(Graph& graph, const Names& names, NewNames& new_names)
      : graph_(graph), names_(names), new_names_(new_names) {}

  // The control input of a node that is to run where `tensor`, as an input writes it, is alive.
  std::string control_on(std::string_view tensor);

  // Adds the nodes that control_on() named. By now the Switches have their dtype.
  void append();

 private:
  Graph& graph_;
  const Names& names_;
  NewNames& new_names_;
  std::map<std::string, std::string, std::less<>> pivots_;  // tensor -> node
};

}  // namespace gedit
