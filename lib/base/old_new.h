// What a rename is given: OLD=NEW, of nodes and of tensors in a checkpoint.
#pragma once

#include <string>
#include <string_view>

namespace gedit {

// `a=b` one name; `a/=b/` a scope, which is all under it; `a/=` strips it; `/=b/` puts everything below b
// (docs/rules.md#rename-pairs).
struct OldNew {
  std::string written;   // all that was given, of which the pair may be a part
  std::string from, to;  // scopes with their last slash
  bool is_scope() const { return from.ends_with('/'); }
};

// Throws Error (kUsage) for what is neither name nor scope on both sides, and where nothing would be left.
OldNew parse_old_new(std::string_view written, std::string_view text);

}  // namespace gedit
