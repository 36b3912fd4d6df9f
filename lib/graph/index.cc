#include "graph/index.h"

namespace gedit {

GraphIndex::GraphIndex(const Graph& graph)
    : graph_(graph), names_(graph), producers_(gedit::producers(graph, names_)) {}

const Edges& GraphIndex::readers() const {
  if (!readers_) readers_ = std::make_unique<const Edges>(reversed(producers_));
  return *readers_;
}

}  // namespace gedit
