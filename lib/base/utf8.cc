#include "base/utf8.h"

namespace gedit {

size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf5 ? 0 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  }
  const auto second = static_cast<unsigned char>(text[1]);
  if (first == 0xe0 && second < 0xa0) return 0;  // overlong
  if (first == 0xed && second > 0x9f) return 0;  // surrogates
  if (first == 0xf0 && second < 0x90) return 0;  // overlong
  if (first == 0xf4 && second > 0x8f) return 0;  // past U+10FFFF
  return length;
}

bool valid_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      ++i;
      continue;
    }
    const size_t length = utf8_length(text.substr(i));
    if (length == 0) return false;
    i += length;
  }
  return true;
}

std::optional<uint32_t> from_surrogates(uint32_t high, uint32_t low) {
  if (high < 0xd800 || high >= 0xdc00 || low < 0xdc00 || low >= 0xe000) return std::nullopt;
  return 0x10000 + ((high & 0x3ff) << 10 | (low & 0x3ff));
}

void append_utf8(std::string& out, uint32_t code_point) {
  const auto append = [&](uint32_t byte) { out += static_cast<char>(byte); };
  const auto append_rest = [&](int shift) { append(0x80 | ((code_point >> shift) & 0x3f)); };
  if (code_point < 0x80) return append(code_point);
  if (code_point < 0x800) {
    append(0xc0 | code_point >> 6);
  } else {
    if (code_point < 0x10000) {
      append(0xe0 | code_point >> 12);
    } else {
      append(0xf0 | code_point >> 18);
      append_rest(12);
    }
    append_rest(6);
  }
  append_rest(0);
}

uint32_t utf8_code_point(std::string_view text, size_t length) {
  if (length < 2) return static_cast<unsigned char>(text[0]);
  uint32_t code = static_cast<unsigned char>(text[0]) & (0x7fU >> length);
  for (size_t i = 1; i < length; ++i) code = (code << 6) | (static_cast<unsigned char>(text[i]) & 0x3f);
  return code;
}

}  // namespace gedit
