#include "edit/changing/rename_rules.h"

#include "base/error.h"
#include "edit/basis/names.h"

namespace gedit {
namespace {

void add_to(ByText<RenamePair>& table, const RenamePair& pair, std::string key) {
  if (!table.emplace(std::move(key), pair).second)
    throw misused(pair.written, "'" + pair.from + "' is given twice");
}

std::string moved(const RenamePair& pair, std::string_view name) {
  if (pair.from == "/") return pair.to + std::string(name);
  if (!pair.from.ends_with('/')) return pair.to;
  if (name.size() + 1 == pair.from.size()) return pair.to.substr(0, pair.to.empty() ? 0 : pair.to.size() - 1);
  return pair.to + std::string(name.substr(pair.from.size()));
}

}  // namespace

RenamePair parse_rename_pair(const std::string& written, std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) throw misused(written, "is no OLD=NEW");
  RenamePair pair{written, std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
  if (pair.to.empty() && !pair.from.ends_with('/')) throw misused(written, "the new name is missing");
  if (pair.from == "/" && pair.to.empty()) throw misused(written, "the new name is missing");
  return pair;
}

void RenameRules::add(const RenamePair& pair) {
  if (pair.from == "/") {
    if (!pair.to.ends_with('/'))
      throw misused(pair.written, "a scope becomes a scope").hint("'/=" + pair.to + "/'");
    everything_ = pair;
  } else if (pair.from.ends_with('/')) {
    if (!pair.to.empty() && !pair.to.ends_with('/')) {
      throw misused(pair.written, "a scope becomes a scope").hint("'" + pair.from + "=" + pair.to + "/'");
    }
    add_to(scopes_, pair, pair.from.substr(0, pair.from.size() - 1));
  } else {
    if (pair.to.ends_with('/'))
      throw misused(pair.written, "a node becomes a node")
          .hint("'" + pair.from + "/=" + pair.to + "' renames a scope");
    add_to(nodes_, pair, pair.from);
    node_sizes_ |= uint64_t{1} << (pair.from.size() & 63);
  }
}

std::optional<std::string> RenameRules::prefix() const {
  if (!nodes_.empty() || !scopes_.empty()) return std::nullopt;
  std::string prefix = everything_ ? everything_->to : "";
  for (const Substitution& expression : expressions_) {
    if (!expression.prefix()) return std::nullopt;
    prefix = *expression.prefix() + prefix;
  }
  return prefix;
}

const RenamePair* RenameRules::pair_for(std::string_view name) const {
  if (const auto found = nodes_.find(name); found != nodes_.end()) return &found->second;
  return scope_for(name);
}

std::string RenameRules::apply(std::string_view name) const {
  std::string result(name);
  if (const RenamePair* pair = pair_for(name)) result = moved(*pair, name);
  for (const Substitution& expression : expressions_) expression.apply(result);
  return result;
}

std::string RenameRules::apply_scopes(std::string_view name) const {
  const RenamePair* pair = scope_for(name);
  return pair == nullptr ? std::string(name) : moved(*pair, name);
}

const RenamePair* RenameRules::scope_for(std::string_view name) const {
  if (!scopes_.empty()) {
    for (size_t end = name.size(); end != std::string_view::npos;
         end = end == 0 ? end : name.rfind('/', end - 1)) {
      if (const auto found = scopes_.find(name.substr(0, end)); found != scopes_.end()) return &found->second;
      if (end == 0) break;
    }
  }
  return everything_ ? &*everything_ : nullptr;
}

}  // namespace gedit
