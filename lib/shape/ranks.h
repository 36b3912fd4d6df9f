// Which rank the inputs of an op must have, whatever its attributes say.
#pragma once

#include <string_view>

#include "shape/rule.h"

namespace gedit::shaping {

// Of every input that has one; empty where none has.
std::string_view ranks_of(std::string_view op);
// Contradicts where an input has another rank than ranks_of says.
void hold_ranks(Subject& node, std::string_view ranks);

}  // namespace gedit::shaping
