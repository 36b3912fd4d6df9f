// Glob patterns on names: `*` and `?` stay within a scope, `**` crosses `/`, `[a-z]` is one of, `{a,b}`
// either.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gedit {

// Linear in pattern times name, whatever the pattern.
bool glob_match(std::string_view pattern, std::string_view name);

// Whether there is anything in it but letters to match exactly.
bool is_glob(std::string_view pattern);

// One of several patterns `a{b,c}d` stands for: abd, acd. A brace without partner stands for itself.
// Throws Error (kUsage) where they are more than a thousand.
std::vector<std::string> expand_braces(std::string_view pattern);

}  // namespace gedit
