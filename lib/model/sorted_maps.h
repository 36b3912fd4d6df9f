// Messages whose maps stand in one order, to be compared: the order of their entries has no meaning.
#pragma once

#include <string>
#include <string_view>

#include "model/references.h"

namespace gedit {

// `message` with the entries of its maps sorted, at any depth. Throws Malformed past 100 levels.
std::string with_maps_sorted(std::string_view message, const Schema& schema);

}  // namespace gedit
