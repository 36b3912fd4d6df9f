// What a rename asks for, and what it makes of a name: pairs `OLD=NEW` and sed's expressions
// (docs/rules.md#rename-pairs).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/by_text.h"
#include "base/old_new.h"
#include "base/substitution.h"

namespace gedit {

// The pairs of one place (the main graph, or one function) and the expressions after them.
class RenameRules {
 public:
  // Throws Error (kUsage) for what is given twice.
  void add(const OldNew& pair);
  void add(Substitution expression) { expressions_.push_back(std::move(expression)); }

  bool empty() const { return nodes_.empty() && scopes_.empty() && !everything_ && expressions_.empty(); }

  // Where all that is asked for puts one prefix before every name.
  std::optional<std::string> prefix() const;

  // Where all that is asked for renames single nodes.
  bool only_nodes() const { return scopes_.empty() && !everything_ && expressions_.empty(); }
  // The new name of a node that has a pair of its own, else null. A look at the length is enough for most.
  const std::string* new_name(std::string_view node) const {
    if ((node_sizes_ >> (node.size() & 63) & 1) == 0) return nullptr;
    const auto found = nodes_.find(node);
    return found == nodes_.end() ? nullptr : &found->second.to;
  }

  // The pair that decides about the name: its own, else the longest scope's, else everything's.
  const OldNew* pair_for(std::string_view name) const;

  std::string apply(std::string_view name) const;
  // A name that is no node's, such as a frame: scopes alone move it.
  std::string apply_scopes(std::string_view name) const;

  // Calls use(pair, is_scope).
  template <typename Use>
  void each_pair(Use use) const {
    for (const auto& [from, pair] : nodes_) use(pair, false);
    for (const auto& [from, pair] : scopes_) use(pair, true);
  }
  const std::vector<Substitution>& expressions() const { return expressions_; }

 private:
  const OldNew* scope_for(std::string_view name) const;

  ByText<OldNew> nodes_, scopes_;
  uint64_t node_sizes_ = 0;  // of the names of nodes_, modulo 64
  std::optional<OldNew> everything_;
  std::vector<Substitution> expressions_;
};

}  // namespace gedit
