// Where a node that the main graph does not have is, for hints.
#pragma once

#include <string>
#include <string_view>

#include "graph/arena.h"

namespace gedit {

// Of a FunctionDefLibrary: "in a function: 'FUNCTION//NAME'", or how many have it; empty where none does.
std::string place_in_functions(std::string_view library, Arena& arena, std::string_view name);

}  // namespace gedit
