#include "graph/scanner.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/utf8.h"

namespace gedit {
namespace {

constexpr std::array<bool, 256> kBare = [] {
  std::array<bool, 256> table{};
  for (int c = 'a'; c <= 'z'; ++c) table[c] = true;
  for (int c = 'A'; c <= 'Z'; ++c) table[c] = true;
  for (int c = '0'; c <= '9'; ++c) table[c] = true;
  for (const char c : {'_', '.', '-', '/', '>', '$'}) table[static_cast<unsigned char>(c)] = true;
  return table;
}();

bool bare(char c) { return kBare[static_cast<unsigned char>(c)]; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool is_bare(std::string_view text) { return !text.empty() && std::ranges::all_of(text, bare); }

void print_quoted(std::string& out, std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto plain = [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; };
  out += '"';
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    while (i < text.size() && plain(text[i])) ++i;
    out += text.substr(begin, i - begin);
    if (i == text.size()) break;
    const auto byte = static_cast<unsigned char>(text[i]);
    const size_t length = byte < 0x80 ? 1 : utf8_length(text.substr(i));
    if (byte == '"' || byte == '\\') {
      out += {'\\', text[i]};
    } else if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte == '\r') {
      out += "\\r";
    } else if (length == 0 || byte < 0x20 || byte == 0x7f) {
      out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      out += text.substr(i, length);
    }
    i += std::max<size_t>(length, 1);
  }
  out += '"';
}

void print_name(std::string& out, std::string_view name) {
  if (is_bare(name)) {
    out += name;
  } else {
    print_quoted(out, name);
  }
}

Scanner::Scanner(std::string_view text, std::string_view file) : text_(text), file_(file) {
  if (text_.starts_with("\xef\xbb\xbf")) position_ = 3;  // some editors begin UTF-8 files with a mark
}

size_t Scanner::line_break(size_t position) const {
  if (position < text_.size() && text_[position] == '\n') return 1;
  return text_.substr(position, 2) == "\r\n" ? 2 : 0;
}

void Scanner::skip_blanks() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == ' ' || c == '\t' || (c == '\r' && line_break(position_) > 0)) {
      ++position_;
    } else if (c == '#') {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else if (c == '\\' && line_break(position_ + 1) > 0) {
      position_ += 1 + line_break(position_ + 1);
    } else {
      return;
    }
  }
}

char Scanner::peek() {
  skip_blanks();
  return at_end() ? '\n' : text_[position_];
}

bool Scanner::accept(char punctuation) {
  if (peek() != punctuation || at_end()) return false;
  ++position_;
  return true;
}

void Scanner::expect(char punctuation) {
  if (!accept(punctuation)) fail_expected(std::string("'") + punctuation + "'");
}

bool Scanner::at_word() { return bare(peek()); }

bool Scanner::accept_word(std::string_view expected) {
  skip_blanks();
  if (!text_.substr(position_).starts_with(expected)) return false;
  const size_t end = position_ + expected.size();
  if (end < text_.size() && bare(text_[end])) return false;
  position_ = end;
  return true;
}

std::string_view Scanner::word(std::string_view what) {
  if (!at_word()) fail_expected(what);
  const size_t start = position_;
  while (position_ < text_.size() && bare(text_[position_])) ++position_;
  return text_.substr(start, position_ - start);
}

std::string_view Scanner::number(std::string_view what) {
  const char first = peek();
  if (!bare(first) && first != '+') fail_expected(what);
  const size_t start = position_;
  while (position_ < text_.size() && (bare(text_[position_]) || text_[position_] == '+')) ++position_;
  return text_.substr(start, position_ - start);
}

std::string_view Scanner::name(std::string& store, std::string_view what) {
  if (peek() == '"') return quoted(store, what);
  return word(what);
}

std::string_view Scanner::device(std::string& store) {
  if (peek() == '"') return quoted(store, "a device");
  const size_t start = position_;
  position_ = std::min(text_.find_first_of(" \t\r\n{#\"\\", position_), text_.size());
  if (position_ == start) fail_expected("a device");
  return text_.substr(start, position_ - start);
}

// One escape sequence, of which the backslash at `start` has been passed.
char Scanner::escape(size_t start) {
  const char c = at_end() ? '\n' : text_[position_++];
  switch (c) {
    case '"':
    case '\\':
    case '\'':
      return c;
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'x': {
      const int high = at_end() ? -1 : hex_digit(text_[position_]);
      const int low = position_ + 1 < text_.size() ? hex_digit(text_[position_ + 1]) : -1;
      if (high < 0 || low < 0) fail_at(start, "\\x needs two hexadecimal digits");
      position_ += 2;
      return static_cast<char>(high * 16 + low);
    }
    default:
      break;
  }
  if (c < '0' || c > '7') fail_at(start, "no such escape sequence in a quoted string");
  int value = c - '0';
  for (int digit = 1; digit < 3 && !at_end(); ++digit, ++position_) {
    if (text_[position_] < '0' || text_[position_] > '7') break;
    value = value * 8 + text_[position_] - '0';
  }
  if (value > 255) fail_at(start, "\\ooo is past 377");
  return static_cast<char>(value);
}

std::string_view Scanner::quoted(std::string& store, std::string_view what) {
  if (peek() != '"') fail_expected(what);
  const size_t open = position_++;
  bool decoded = false;
  size_t run = position_;  // where what has not been copied to `store` begins
  store.clear();
  for (;;) {
    const size_t stop = text_.find_first_of("\"\\\n", position_);
    if (stop == std::string_view::npos || text_[stop] == '\n') fail_at(open, "no closing quote on this line");
    const std::string_view plain = text_.substr(position_, stop - position_);
    if (!valid_utf8(plain)) fail_at(position_, "not UTF-8 (other bytes are written \\xhh)");
    position_ = stop + 1;
    if (text_[stop] == '"') break;
    store += text_.substr(run, stop - run);
    store += escape(stop);
    run = position_;
    decoded = true;
  }
  const std::string_view last = text_.substr(run, position_ - 1 - run);
  if (!decoded) return last;
  store += last;
  return store;
}

std::string Scanner::text(char closing, size_t& start) {
  skip_blanks();
  start = position_;
  std::string out;
  size_t depth = 0;
  char quote = 0;
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '\n' || (c == '\r' && line_break(position_) > 0)) break;
    if (c == '\\') {
      const size_t joined = quote == 0 ? line_break(position_ + 1) : 0;
      if (joined > 0) {
        out.append(1 + joined, ' ');
        position_ += 1 + joined;
        continue;
      }
      if (line_break(position_ + 1) > 0) break;  // in quotes a line cannot be joined
      out += text_.substr(position_, 2);
      position_ = std::min(position_ + 2, text_.size());
      continue;
    }
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '#' || (c == closing && depth == 0)) {
      break;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && depth > 0) {
      --depth;
    }
    out += quote == 0 && c == '\t' ? ' ' : c;
    ++position_;
  }
  if (quote != 0) fail_at(start, "a quote in this text is not closed on its line");
  if (peek() != closing || depth != 0) fail_at(start, "a bracket in this text is not closed on its line");
  return out;
}

void Scanner::end_line() {
  if (peek() != '\n') fail_expected("the end of the line");
  if (!at_end()) ++position_;
}

void Scanner::skip_lines() {
  while (peek() == '\n' && !at_end()) ++position_;
}

size_t Scanner::line_at(size_t position) const {
  return 1 + static_cast<size_t>(std::ranges::count(text_.substr(0, position), '\n'));
}

void Scanner::fail_at(size_t position, const std::string& message) const {
  const std::string_view before = text_.substr(0, position);
  const std::string_view line = before.substr(before.rfind('\n') + 1);  // npos + 1: the first line
  const auto characters = std::ranges::count_if(line, [](char c) { return (c & 0xc0) != 0x80; });
  const std::string column = "column " + std::to_string(1 + characters);
  const Error error(Cause::kInput, message);
  if (file_.empty()) throw error.of(column);
  throw error.of("line " + std::to_string(line_at(position)) + ": " + column).in(file_);
}

void Scanner::fail_expected(std::string_view what) {
  std::string message = "expected " + std::string(what) + ", found ";
  if (peek() == '\n') fail(message + (at_end() ? "the end of the text" : "the end of the line"));
  const size_t start = position_;
  size_t end = start + std::max<size_t>(utf8_length(text_.substr(start)), 1);
  while (bare(text_[start]) && end < text_.size() && bare(text_[end])) ++end;
  fail(message + "'" + printable(text_.substr(start, end - start)) + "'");
}

}  // namespace gedit
