// Telling a listing from protobuf text and other files by how it begins.
#include <algorithm>
#include <array>
#include <cstdint>

#include "graph/scanner.h"
#include "model/listing.h"

namespace gedit {
namespace {

enum class Verdict : uint8_t { kUnsure, kBoth, kYes, kNo };

constexpr std::string_view kBlanks = " \t\r";

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
}

// Takes a bare or quoted name off the front; false where there is none.
bool take_name(std::string_view& text) {
  size_t length = 0;
  if (text.starts_with('"')) {
    for (length = 1; length < text.size() && text[length] != '"'; ++length) {
      if (text[length] == '\\') ++length;
    }
    if (length >= text.size()) return false;
    ++length;
  } else {
    while (length < text.size() && is_bare(text.substr(length, 1))) ++length;
  }
  text.remove_prefix(length);
  skip_blanks(text);
  return length > 0;
}

bool take(std::string_view& text, char wanted) {
  if (!text.starts_with(wanted)) return false;
  text.remove_prefix(1);
  skip_blanks(text);
  return true;
}

bool node_line(std::string_view line) {
  return take_name(line) && take(line, '=') && take_name(line) && take(line, '(');
}

// Whether `text` is one block in braces. Quotes are not looked at: a guess is enough.
bool one_block(std::string_view text) {
  if (!text.starts_with('{')) return false;
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && --depth == 0)
      return text.find_first_not_of(kBlanks, i + 1) == std::string_view::npos;
  }
  return false;
}

bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

Verdict judge(std::string_view line) {
  skip_blanks(line);
  if (line.empty() || line.starts_with('#')) return Verdict::kUnsure;
  if (node_line(line)) return Verdict::kYes;
  std::string_view rest = line;
  if (line.starts_with('"') || !take_name(rest)) return Verdict::kNo;
  std::string_view word = line.substr(0, line.size() - rest.size());
  word = word.substr(0, word.find_last_not_of(kBlanks) + 1);
  if (word == "metagraph" && (rest.empty() || rest.starts_with('{'))) return Verdict::kYes;
  if (one_of(word, {"saved_model", "op_list"}) && rest.starts_with('{')) return Verdict::kYes;
  if (one_of(word, {"saver", "asset"}) && one_block(rest)) return Verdict::kYes;
  const bool named = rest.starts_with('"') || is_bare(rest.substr(0, 1));
  const bool takes_name = one_of(word, {"function", "collection", "signature", "gradient", "object", "raw",
                                        "registered_gradient", "concrete_function"});
  if (takes_name && named) return Verdict::kYes;
  if (word == "version" && !rest.empty() &&
      rest.find_first_not_of("-0123456789 \t\r") == std::string_view::npos) {
    return Verdict::kYes;
  }
  // Fields of GraphDef have the same names.
  if (one_of(word, {"versions", "debug_info", "library"}) && one_block(rest)) return Verdict::kBoth;
  return Verdict::kNo;
}

}  // namespace

bool looks_like_listing(std::string_view first_bytes) {
  if (first_bytes.starts_with("\xef\xbb\xbf")) first_bytes.remove_prefix(3);
  bool both = false;
  while (!first_bytes.empty()) {
    const size_t end = std::min(first_bytes.find('\n'), first_bytes.size());
    const Verdict verdict = judge(first_bytes.substr(0, end));
    if (verdict == Verdict::kYes) return true;
    if (verdict == Verdict::kNo) return false;
    both = both || verdict == Verdict::kBoth;
    first_bytes.remove_prefix(std::min(end + 1, first_bytes.size()));
  }
  return both;
}

}  // namespace gedit
