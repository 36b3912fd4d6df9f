// Which of the nodes that are built alike and yet are not one is which of the other graph's: a guess.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "prove/side.h"

namespace gedit {

using Ordinals = std::unordered_map<uint32_t, uint32_t>;  // by node

// The nodes of one graph that are built alike and yet are not one, with a number each. It is a guess which of
// the other graph each of them is; the numbering then holds only if it is right. Who reads them tells most.
Ordinals ordinals_of(Side& side);

}  // namespace gedit
