// Glob patterns on names: `*` and `?` stay within a scope, `**` crosses `/`, `[a-z]` is one of, `{a,b}`
// either.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/by_text.h"

namespace gedit {

// Linear in pattern times name, whatever the pattern.
bool glob_match(std::string_view pattern, std::string_view name);

// Whether there is anything in it but letters to match exactly.
bool is_glob(std::string_view pattern);

// One of several patterns `a{b,c}d` stands for: abd, acd. A brace without partner stands for itself.
// Throws Error (kUsage) where they are more than a thousand.
std::vector<std::string> expand_braces(std::string_view pattern);

// Several patterns, of which a file may have thousands: a name is tried on those alone that begin, or else
// end, with letters of its own.
class Globs {
 public:
  void add(std::string_view pattern);  // throws as expand_braces() does
  bool empty() const { return begins_.patterns.empty() && ends_.patterns.empty(); }
  // Whether one of them matches.
  bool match(std::string_view name) const;

 private:
  struct Ends {
    ByText<std::vector<std::string>> patterns;  // by the letters that they begin, or end, with
    std::set<size_t> sizes;                     // of these
  };
  Ends begins_, ends_;
};

}  // namespace gedit
