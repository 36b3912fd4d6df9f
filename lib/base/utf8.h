// UTF-8: is it valid, how long is a character, and which one is it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gedit {

// Bytes of the character that `text` starts with, 0 where it starts with none (empty, broken, overlong,
// surrogate).
size_t utf8_length(std::string_view text);

bool valid_utf8(std::string_view text);

// The character that two units of UTF-16 are; nothing where they are not two halves of one.
std::optional<uint32_t> from_surrogates(uint32_t high, uint32_t low);

// A surrogate, which is no character, as three bytes that are not valid.
void append_utf8(std::string& out, uint32_t code_point);
// Of the `length` bytes that `text` starts with, as utf8_length() says.
uint32_t utf8_code_point(std::string_view text, size_t length);

}  // namespace gedit
