// UTF-8: is it valid, and how long is a character.
#pragma once

#include <cstddef>
#include <string_view>

namespace gedit {

// Bytes of the character that `text` starts with, 0 where it starts with none (empty, broken, overlong,
// surrogate).
size_t utf8_length(std::string_view text);

bool valid_utf8(std::string_view text);

}  // namespace gedit
