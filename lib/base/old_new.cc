#include "base/old_new.h"

#include "base/error.h"

namespace gedit {

OldNew parse_old_new(std::string_view written, std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) throw misused(written, "is no OLD=NEW");
  OldNew pair{std::string(written), std::string(text.substr(0, equals)),
              std::string(text.substr(equals + 1))};
  if (pair.to.empty() && (!pair.is_scope() || pair.from == "/"))
    throw misused(written, "the new name is missing");
  if (pair.to.empty() || pair.is_scope() == pair.to.ends_with('/')) return pair;
  if (pair.is_scope())
    throw misused(written, "a scope becomes a scope").hint("'" + pair.from + "=" + pair.to + "/'");
  throw misused(written, "a name becomes a name")
      .hint("'" + pair.from + "/=" + pair.to + "' renames a scope");
}

}  // namespace gedit
