#include "message/text_tokens.h"

#include <algorithm>
#include <optional>

#include "base/letters.h"
#include "base/number.h"
#include "base/utf8.h"

namespace gedit {
namespace {

bool is_octal(char c) { return c >= '0' && c <= '7'; }
bool is_zero(char c) { return c == '0'; }
bool is_bit(char c) { return c == '0' || c == '1'; }

// The number that stands at `at`, in at most `most` digits, which it goes behind.
uint32_t read_digits(std::string_view text, size_t& at, int base, size_t most) {
  const size_t start = at;
  while (at < text.size() && at - start < most && (base == 8 ? is_octal(text[at]) : is_hex_digit(text[at])))
    ++at;
  return read_number<uint32_t>(text.substr(start, at - start), base).value_or(0);
}

// Behind `\u` or `\U`; two halves of one character are that character.
uint32_t read_code_point(std::string_view text, size_t& at, size_t digits) {
  const uint32_t code = read_digits(text, at, 16, digits);
  if (text.substr(at, 2) != "\\u") return code;
  size_t behind = at + 2;
  const std::optional<uint32_t> whole = from_surrogates(code, read_digits(text, behind, 16, 4));
  if (whole) at = behind;
  return whole.value_or(code);
}

}  // namespace

void TextTokens::fail(size_t offset, std::string message) const {
  throw TextFault{std::min(offset, text_.size()), std::move(message)};
}

template <bool (*is)(char)>
size_t TextTokens::skip(size_t most) {
  const size_t start = at_;
  while (at_ < text_.size() && at_ - start < most && is(text_[at_])) ++at_;
  return at_ - start;
}

void TextTokens::skip_blank() {
  for (;;) {
    skip<is_text_blank>();
    if (peek() != '#') return;
    at_ = std::min(text_.find('\n', at_), text_.size());
  }
}

void TextTokens::next() {
  const size_t word_end = kind_ == TextToken::kIdentifier ? at_ : std::string_view::npos;
  skip_blank();
  start_ = at_;
  if (at_ == text_.size()) {
    kind_ = TextToken::kEnd;
    return;
  }
  const char c = text_[at_];
  if (is_word(c) && !is_digit(c)) {
    skip<is_word>();
    kind_ = TextToken::kIdentifier;
  } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
    if (at_ == word_end) fail(at_, "need space between identifier and decimal point");
    read_number();
  } else if (c == '"' || c == '\'') {
    read_string();
  } else if (static_cast<unsigned char>(c) >= 0x80) {
    fail(at_, "interpreting non ascii codepoint " + std::to_string(static_cast<unsigned char>(c)));
  } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
    fail(at_, "invalid control characters encountered in text");
  } else {
    ++at_;
    kind_ = TextToken::kSymbol;
  }
}

void TextTokens::read_number() {
  kind_ = TextToken::kInteger;
  const bool zero = peek() == '0';
  if (zero && (peek(1) | 0x20) == 'x') {
    at_ += 2;
    if (skip<is_hex_digit>() == 0) fail(at_, "\"0x\" must be followed by hex digits");
  } else if (zero && is_digit(peek(1))) {
    skip<is_octal>();
    if (is_digit(peek())) fail(at_, "numbers starting with leading zero must be in octal");
  } else {
    skip<is_digit>();
    if (peek() == '.') {
      kind_ = TextToken::kFloat;
      ++at_;
      skip<is_digit>();
    }
    if ((peek() | 0x20) == 'e') {
      kind_ = TextToken::kFloat;
      ++at_;
      if (peek() == '-' || peek() == '+') ++at_;
      if (skip<is_digit>() == 0) fail(at_, "\"e\" must be followed by exponent");
    }
    if ((peek() | 0x20) == 'f') {
      kind_ = TextToken::kFloat;
      ++at_;
    }
  }
  if (is_word(peek())) fail(at_, "need space between number and identifier");
  if (peek() == '.')
    fail(at_, kind_ == TextToken::kFloat ? "already saw decimal point or exponent; can't have another one"
                                         : "hex and octal numbers must be integers");
}

void TextTokens::read_string() {
  kind_ = TextToken::kString;
  const char quote = text_[at_];
  for (++at_;;) {
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\\' && text_[at_] != '\n') ++at_;
    if (at_ == text_.size()) fail(at_, "unexpected end of string");
    if (text_[at_] == quote) {
      ++at_;
      return;
    }
    if (text_[at_] == '\n') fail(at_, "string literals cannot cross line boundaries");
    ++at_;
    check_escape();
  }
}

// What is behind a backslash.
void TextTokens::check_escape() {
  const char c = peek();
  if (c == 'x' || c == 'X') {
    ++at_;
    if (skip<is_hex_digit>(2) == 0) fail(at_, "expected hex digits for escape sequence");
  } else if (c == 'u') {
    ++at_;
    if (skip<is_hex_digit>(4) != 4) fail(at_, "expected four hex digits for \\u escape sequence");
  } else if (c == 'U') {
    ++at_;
    const bool few = skip<is_zero>(2) == 2 && skip<is_bit>(1) == 1;
    if (!few || skip<is_hex_digit>(5) != 5)
      fail(at_, "expected eight hex digits up to 10ffff for \\U escape sequence");
  } else if (is_octal(c) || std::string_view("abfnrtv\\?'\"").find(c) != std::string_view::npos) {
    ++at_;
  } else {
    fail(at_, "invalid escape sequence in string literal");
  }
}

void TextTokens::append_string(std::string& out) const {
  const std::string_view content = text_.substr(start_ + 1, at_ - start_ - 2);
  for (size_t at = 0; at < content.size();) {
    const size_t escape = std::min(content.find('\\', at), content.size());
    out += content.substr(at, escape - at);
    if (escape == content.size()) return;
    at = escape + 1;
    const char c = content[at];
    if (is_octal(c)) {
      out += static_cast<char>(read_digits(content, at, 8, 3));
      continue;
    }
    ++at;
    if (c == 'x' || c == 'X') {
      out += static_cast<char>(read_digits(content, at, 16, 2));
    } else if (c == 'u' || c == 'U') {
      append_utf8(out, read_code_point(content, at, c == 'u' ? 4 : 8));
    } else {
      constexpr std::string_view kLetters = "abfnrtv", kMeanings = "\a\b\f\n\r\t\v";
      const size_t letter = kLetters.find(c);
      out += letter == std::string_view::npos ? c : kMeanings[letter];
    }
  }
}

}  // namespace gedit
