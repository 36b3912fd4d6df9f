// Vectors of which what is added by resize() has no value yet: it is given one on all cores, and the system
// clears fresh memory for each of them.
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/parallel.h"

namespace gedit {

template <typename T>
struct Blank : std::allocator<T> {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  template <typename Other>
  struct rebind {
    using other = Blank<Other>;
  };
  template <typename Made, typename... Of>
  void construct(Made* place, Of&&... of) {
    if constexpr (sizeof...(Of) > 0) std::construct_at(place, std::forward<Of>(of)...);
  }
};

template <typename T>
using BlankVector = std::vector<T, Blank<T>>;

// As many of that value.
template <typename T>
BlankVector<T> filled_in_pieces(size_t count, const T& value) {
  BlankVector<T> all(count);
  in_pieces(count, [&](size_t, PieceRange range) {
    std::fill(all.begin() + range.begin, all.begin() + range.end, value);
  });
  return all;
}

}  // namespace gedit
