// Which kind of character a byte is, of ASCII.
#pragma once

namespace gedit {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_hex_digit(char c) { return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); }
inline bool is_letter(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

// Of what a name in protobuf text is made, and what stands between.
inline bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
inline bool is_text_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace gedit
