// Queues that were filled and of which nothing is left that fills them: whoever reads one waits for ever.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "edit/basis/facts.h"

namespace gedit {

// Empty, or "queue 'q'", "2 queues, first 'q'", of those among `nodes` of whose fillers none `stays`; `first`
// is its name.
std::string unfilled_queues(const Facts& facts, const std::vector<NodeId>& nodes,
                            const std::function<bool(NodeId)>& stays, std::string& first);

}  // namespace gedit
