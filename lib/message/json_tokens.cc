#include "message/json_tokens.h"

#include <optional>

#include "base/letters.h"
#include "base/number.h"
#include "base/utf8.h"

namespace gedit {
namespace {

bool is_json_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

// -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
bool is_json_number(std::string_view text) {
  size_t at = 0;
  const auto takes = [&](std::string_view any) {
    const bool found = at < text.size() && any.find(text[at]) != std::string_view::npos;
    at += found ? 1 : 0;
    return found;
  };
  const auto digits = [&] {
    const size_t start = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at > start;
  };
  takes("-");
  if (!takes("0") && !digits()) return false;
  if (takes(".") && !digits()) return false;
  if (takes("eE")) {
    takes("+-");
    if (!digits()) return false;
  }
  return at == text.size() && !text.empty();
}

void JsonTokens::fail(size_t offset, std::string message) const {
  throw TextFault{offset, std::move(message)};
}

void JsonTokens::skip_mark() {
  if (text_.substr(at_, 3) == "\xEF\xBB\xBF") at_ += 3;
}

char JsonTokens::peek() {
  while (at_ < text_.size() && is_json_blank(text_[at_])) ++at_;
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonTokens::takes(char c) {
  if (peek() != c || at_ == text_.size()) return false;
  ++at_;
  return true;
}

void JsonTokens::expect(char c) {
  if (!takes(c)) fail(at_, std::string("expected '") + c + "'");
}

bool JsonTokens::takes_null() {
  if (peek() != 'n' || text_.substr(at_, 4) != "null") return false;
  at_ += 4;
  return true;
}

bool JsonTokens::opens(char bracket) {
  expect(bracket);
  return !takes(bracket == '[' ? ']' : '}');
}

bool JsonTokens::goes_on(char closing) {
  if (takes(closing)) return false;
  if (!takes(','))
    fail(at_, std::string("expected ',' or '") + closing + "'" + (at_end() ? ", found the end" : ""));
  return true;
}

// To behind the quote that closes it. Only characters that JSON lets stand in a string.
std::string_view JsonTokens::string() {
  const size_t opened_at = at_;
  if (peek() != '"') fail(at_, "expected a string in double quotes");
  ++at_;
  string_.clear();
  for (;;) {
    const size_t start = at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
           static_cast<unsigned char>(text_[at_]) >= 0x20)
      ++at_;
    string_ += text_.substr(start, at_ - start);
    if (at_ == text_.size()) fail(opened_at, "no '\"' closes this");
    const char c = text_[at_++];
    if (c == '"') {
      if (!valid_utf8(string_)) fail(opened_at, "a string that is not UTF-8");
      return string_;
    }
    if (c != '\\') fail(at_ - 1, "a control character in a string");
    append_escape();
  }
}

// Behind the backslash.
void JsonTokens::append_escape() {
  constexpr std::string_view kLetters = "btnfr\"\\/", kMeanings = "\b\t\n\f\r\"\\/";
  const size_t letter = at_ < text_.size() ? kLetters.find(text_[at_]) : std::string_view::npos;
  if (letter != std::string_view::npos) {
    ++at_;
    string_ += kMeanings[letter];
    return;
  }
  const auto unit = [&](size_t at) {
    return text_.substr(at, 1) == "u" ? read_number<uint32_t>(text_.substr(at + 1, 4), 16) : std::nullopt;
  };
  const std::optional<uint32_t> high = unit(at_);
  if (!high || at_ + 5 > text_.size()) fail(at_ - 1, "no escape that JSON has");
  at_ += 5;
  uint32_t code = *high;
  if (code >= 0xd800 && code < 0xe000) {
    const std::optional<uint32_t> low = text_.substr(at_, 1) == "\\" ? unit(at_ + 1) : std::nullopt;
    const std::optional<uint32_t> whole = low ? from_surrogates(code, *low) : std::nullopt;
    if (!whole) fail(at_ - 6, "half a character");
    at_ += 6;
    code = *whole;
  }
  append_utf8(string_, code);
}

// A number, or a word.
std::string_view JsonTokens::word() {
  peek();
  const size_t start = at_;
  while (at_ < text_.size() && !is_json_blank(text_[at_]) &&
         std::string_view(",:{}[]\"").find(text_[at_]) == std::string_view::npos)
    ++at_;
  return text_.substr(start, at_ - start);
}

void JsonTokens::skip_value() { skip(0); }

void JsonTokens::skip(int depth) {
  constexpr int kDeepest = 200;
  if (depth > kDeepest) fail(at_, "nested deeper than 200 levels");
  const char c = peek();
  if (c == '"') {
    string();
  } else if (c == '[') {
    for (bool more = opens('['); more; more = goes_on(']')) skip(depth + 1);
  } else if (c == '{') {
    for (bool more = opens('{'); more; more = goes_on('}')) {
      string();
      expect(':');
      skip(depth + 1);
    }
  } else {
    const size_t start = at_;
    const std::string_view text = word();
    if (text.empty()) fail(start, "expected a value");
    if (text != "true" && text != "false" && text != "null" && !is_json_number(text))
      fail(start, "not valid JSON");
  }
}

}  // namespace gedit
