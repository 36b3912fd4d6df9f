// Which variables a restore operation's values are assigned to as they are: of a mirrored variable each
// replica.
#pragma once

#include <utility>
#include <vector>

#include "edit/basis/facts.h"

namespace gedit {

// Variable and output, in the order of the graph.
std::vector<std::pair<NodeId, uint32_t>> assigned_by(const Facts& facts, NodeId restore);

}  // namespace gedit
