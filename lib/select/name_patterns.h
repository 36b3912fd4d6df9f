// What names and scopes of selectors hit, of which a file may have a hundred thousand: one look at each name.
#pragma once

#include <string_view>
#include <unordered_set>

#include "base/glob.h"
#include "select/selector.h"

namespace gedit {

class NamePatterns {
 public:
  // Takes the selector, which outlives this, where it is a name or a scope, wildcards or not. Whether it is.
  // Throws Error (kUsage) as expand_braces() does.
  bool add(const Selector& selector);

  // Those without wildcards.
  const std::unordered_set<std::string_view>& names() const { return names_; }
  // Whether there is anything but these.
  bool has_wide() const { return !globs_.empty() || !scopes_.empty() || !scope_globs_.empty(); }
  // Whether a glob matches it, or a scope is one that it lies in, or is its own.
  bool wide(std::string_view name) const;

 private:
  std::unordered_set<std::string_view> names_, scopes_;
  Globs globs_, scope_globs_;
};

}  // namespace gedit
