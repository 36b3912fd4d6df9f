#include "select/name_patterns.h"

namespace gedit {

bool NamePatterns::add(const Selector& selector) {
  const bool scope = selector.is == Selector::Is::kScope;
  if (!scope && selector.is != Selector::Is::kName) return false;
  if (selector.literal || !is_glob(selector.text)) {
    (scope ? scopes_ : names_).insert(selector.text);
  } else {
    (scope ? scope_globs_ : globs_).add(selector.text);
  }
  return true;
}

bool NamePatterns::wide(std::string_view name) const {
  if (globs_.match(name)) return true;
  if (scopes_.empty() && scope_globs_.empty()) return false;
  for (size_t end = name.find('/');; end = name.find('/', end + 1)) {
    const std::string_view scope = name.substr(0, end);
    if (scopes_.contains(scope) || scope_globs_.match(scope)) return true;
    if (end == std::string_view::npos) return false;
  }
}

}  // namespace gedit
