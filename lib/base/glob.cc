// A set of positions in the pattern is advanced over the name letter by letter (Thompson's way), so that
// `**a**a**a` costs no more than its length.
#include "base/glob.h"

#include <algorithm>

#include "base/error.h"

namespace gedit {
namespace {

constexpr size_t kMostAlternatives = 1000;

// Length of the pattern's element at `at`, and whether it matches `c` (not for stars).
struct GlobPart {
  size_t length;
  bool matches;
};

GlobPart element(std::string_view pattern, size_t at, char c) {
  if (pattern[at] == '?') return {1, c != '/'};
  if (pattern[at] == '\\' && at + 1 < pattern.size()) return {2, pattern[at + 1] == c};
  if (pattern[at] != '[') return {1, pattern[at] == c};
  size_t i = at + 1;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  bool in = false;
  for (bool first = true; i < pattern.size() && (first || pattern[i] != ']'); first = false) {
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
      in = in || (pattern[i] <= c && c <= pattern[i + 2]);
      i += 3;
    } else {
      in = in || pattern[i] == c;
      ++i;
    }
  }
  if (i >= pattern.size()) return {1, c == '['};  // no end: a letter like any other
  return {i + 1 - at, c != '/' && in != negated};
}

// Whether the name has as many letters as the pattern asks for beside its stars. Else a thousand stars would
// cost a thousand steps a letter.
bool long_enough(std::string_view pattern, std::string_view name) {
  size_t letters = 0;
  for (size_t at = 0; at < pattern.size() && letters <= name.size();) {
    const bool star = pattern[at] == '*';
    letters += star ? 0 : 1;
    at += star ? 1 : element(pattern, at, ' ').length;
  }
  return letters <= name.size();
}

bool matches(std::string_view pattern, std::string_view name) {
  if (!long_enough(pattern, name)) return false;
  std::vector<bool> now(pattern.size() + 1), next(pattern.size() + 1);
  // Positions behind stars are reached without a letter.
  const auto add = [&](std::vector<bool>& set, size_t at) {
    for (;;) {
      if (set[at]) return;
      set[at] = true;
      if (at == pattern.size() || pattern[at] != '*') return;
      at += pattern.substr(at).starts_with("**") ? 2 : 1;
    }
  };
  add(now, 0);
  for (const char c : name) {
    next.assign(pattern.size() + 1, false);
    bool any = false;
    for (size_t at = 0; at < pattern.size(); ++at) {
      if (!now[at]) continue;
      if (pattern[at] == '*') {
        if (c != '/' || pattern.substr(at).starts_with("**")) {
          add(next, at);
          any = true;
        }
        continue;
      }
      const GlobPart e = element(pattern, at, c);
      if (!e.matches) continue;
      add(next, at + e.length);
      any = true;
    }
    if (!any) return false;
    now.swap(next);
  }
  return now[pattern.size()];
}

void expand(std::string_view pattern, std::vector<std::string>& out) {
  const size_t open = pattern.find('{');
  size_t depth = 0, close = std::string_view::npos;
  std::vector<size_t> commas;
  for (size_t i = open; i < pattern.size(); ++i) {
    if (pattern[i] == '{') ++depth;
    if (pattern[i] == ',' && depth == 1) commas.push_back(i);
    if (pattern[i] == '}' && --depth == 0) {
      close = i;
      break;
    }
  }
  if (open == std::string_view::npos || close == std::string_view::npos) {
    if (out.size() == kMostAlternatives)
      throw Error(Cause::kUsage, "stands for more than 1000 patterns").of(quoted("pattern", pattern));
    out.emplace_back(pattern);
    return;
  }
  commas.push_back(close);
  size_t begin = open + 1;
  for (const size_t end : commas) {
    std::string one(pattern.substr(0, open));
    one += pattern.substr(begin, end - begin);
    one += pattern.substr(close + 1);
    expand(one, out);
    begin = end + 1;
  }
}

}  // namespace

std::vector<std::string> expand_braces(std::string_view pattern) {
  std::vector<std::string> patterns;
  expand(pattern, patterns);
  return patterns;
}

bool is_glob(std::string_view pattern) { return pattern.find_first_of("*?[{\\") != std::string_view::npos; }

bool glob_match(std::string_view pattern, std::string_view name) {
  if (pattern == "**") return true;  // what people write to have all of a million nodes
  if (pattern.find('{') == std::string_view::npos) return matches(pattern, name);
  return std::ranges::any_of(expand_braces(pattern),
                             [&](const std::string& one) { return matches(one, name); });
}

void Globs::add(std::string_view pattern) {
  for (const std::string& one : expand_braces(pattern)) {
    const size_t first = std::min(one.find_first_of("*?[{\\"), one.size());
    const size_t last = one.find_last_of("*?[]{}\\");
    const bool begins = first > 0 || last == std::string::npos || last + 1 == one.size();
    const std::string letters = begins ? one.substr(0, first) : one.substr(last + 1);
    Ends& ends = begins ? begins_ : ends_;
    ends.patterns[letters].push_back(one);
    ends.sizes.insert(letters.size());
  }
}

bool Globs::match(std::string_view name) const {
  const auto any = [&](const Ends& ends, auto letters_of) {
    for (const size_t size : ends.sizes) {
      if (size > name.size()) return false;
      const auto found = ends.patterns.find(letters_of(size));
      if (found == ends.patterns.end()) continue;
      for (const std::string& pattern : found->second) {
        if (pattern == "**" || matches(pattern, name)) return true;
      }
    }
    return false;
  };
  return any(begins_, [&](size_t size) { return name.substr(0, size); }) ||
         any(ends_, [&](size_t size) { return name.substr(name.size() - size); });
}

}  // namespace gedit
