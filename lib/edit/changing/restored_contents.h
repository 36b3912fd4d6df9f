// What savers restore besides variables: the contents of tables.
#pragma once

#include <string>
#include <vector>

#include "edit/basis/facts.h"

namespace gedit {

// Keys of the checkpoint that the savers among the nodes which stay restore into no variable.
std::vector<std::string> keys_of_restored_contents(const Facts& facts, const NodeSet& stays);

}  // namespace gedit
