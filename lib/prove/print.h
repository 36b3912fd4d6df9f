// A proof as people and programs read it.
#pragma once

#include <string>

#include "prove/prove.h"

namespace gedit {

// A line an output.
std::string proof_text(const Proof& proof);
// [{"output", "verdict", "tensors", "a", "b", "why"}], one a pair; what is empty is null.
std::string proof_json(const Proof& proof);

}  // namespace gedit
