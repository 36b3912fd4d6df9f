// Which nodes may have `_class`, told by a look at the keys of their attributes alone.
#pragma once

#include <string_view>

#include "graph/node.h"

namespace gedit::optimizing {

// False where find_attr() of `_class` finds nothing. What is not laid out as every writer lays it out may
// have it.
inline bool may_have_class(std::string_view node_def) {
  constexpr std::string_view kClass = "\x0a\x06_class";
  const char* at = node_def.data();
  const char* const end = at + node_def.size();
  const auto byte = [&](ptrdiff_t i) { return size_t{static_cast<unsigned char>(at[i])}; };
  while (end - at >= 3) {
    const size_t tag = byte(0), length = byte(1) < 0x80 ? byte(1) : (byte(1) & 0x7f) | byte(2) << 7;
    if ((tag & 0x87) != 2 || (byte(1) >= 0x80 && byte(2) >= 0x80)) break;
    at += byte(1) < 0x80 ? 2 : 3;
    if (length > static_cast<size_t>(end - at)) break;
    if (tag == (node_field::kAttr << 3 | 2)) {
      // A short key, and a value that ends the entry.
      if (length < 4 || byte(0) != 0x0a || byte(1) + 4 > length) break;
      const auto value = static_cast<ptrdiff_t>(2 + byte(1));
      const size_t size = byte(value + 1);
      const bool is_short = size < 0x80 && static_cast<size_t>(value) + 2 + size == length;
      const bool is_long = size >= 0x80 && static_cast<size_t>(value) + 3 <= length &&
                           byte(value + 2) < 0x80 &&
                           static_cast<size_t>(value) + 3 + ((size & 0x7f) | byte(value + 2) << 7) == length;
      if (byte(value) != 0x12 || !(is_short || is_long)) break;
      if (std::string_view(at, length).starts_with(kClass)) break;
    }
    at += length;
  }
  return at != end;
}

}  // namespace gedit::optimizing
