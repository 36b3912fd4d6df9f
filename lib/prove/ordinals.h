// Which of the nodes that are built alike and yet are not one is which of the other graph's: a guess.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>

#include "prove/side.h"

namespace gedit {

using Ordinals = std::unordered_map<uint32_t, uint32_t>;  // by node

struct Numbered {
  Side& side;
  std::function<bool(NodeId)> needed;  // whether the node was numbered
};

// The nodes of each graph that are built alike and yet are not one, with a number each. It is a guess which
// of the other graph each of them is; the numbering then holds only if it is right. Either who of what is
// needed reads them tells, or their names, where both graphs have them.
struct Guesses {
  std::pair<Ordinals, Ordinals> by_readers, by_names;  // of A, of B
};
Guesses guesses_of(const Numbered& a, const Numbered& b);

}  // namespace gedit
