// Queues, tables and iterators that were filled and of which nothing is left that fills them: who reads such
// a queue waits for ever.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "edit/basis/facts.h"

namespace gedit {

// What puts something into the queue, table or iterator.
std::vector<NodeId> fillers_of(const Facts& facts, NodeId holder);

struct Unfilled {
  std::string_view kind, outcome;  // "queue"; what comes of who reads it, "waits for ever"
  size_t count = 0;
  std::string first, filler;  // the name of the first, and of what filled it

  std::string what() const;  // "queue 'q'", "2 queues, first 'q'"
};

// Those among `nodes`, in any order, of whose fillers none `stays`: of queues, of tables and of iterators one
// each, where there are any; the first in the graph is its first.
std::vector<Unfilled> unfilled(const Facts& facts, const std::vector<NodeId>& nodes,
                               const std::function<bool(NodeId)>& stays);

}  // namespace gedit
