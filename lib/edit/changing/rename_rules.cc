#include "edit/changing/rename_rules.h"

#include "base/error.h"
#include "edit/basis/names.h"

namespace gedit {
namespace {

void add_to(ByText<OldNew>& table, const OldNew& pair, std::string key) {
  if (!table.emplace(std::move(key), pair).second)
    throw misused(pair.written, "'" + pair.from + "' is given twice");
}

std::string moved(const OldNew& pair, std::string_view name) {
  if (pair.from == "/") return pair.to + std::string(name);
  if (!pair.is_scope()) return pair.to;
  if (name.size() + 1 == pair.from.size()) return pair.to.substr(0, pair.to.empty() ? 0 : pair.to.size() - 1);
  return pair.to + std::string(name.substr(pair.from.size()));
}

}  // namespace

void RenameRules::add(const OldNew& pair) {
  if (pair.from == "/") {
    everything_ = pair;
  } else if (pair.is_scope()) {
    add_to(scopes_, pair, pair.from.substr(0, pair.from.size() - 1));
  } else {
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

const OldNew* RenameRules::pair_for(std::string_view name) const {
  if (const auto found = nodes_.find(name); found != nodes_.end()) return &found->second;
  return scope_for(name);
}

std::string RenameRules::apply(std::string_view name) const {
  std::string result(name);
  if (const OldNew* pair = pair_for(name)) result = moved(*pair, name);
  for (const Substitution& expression : expressions_) expression.apply(result);
  return result;
}

std::string RenameRules::apply_scopes(std::string_view name) const {
  const OldNew* pair = scope_for(name);
  return pair == nullptr ? std::string(name) : moved(*pair, name);
}

const OldNew* RenameRules::scope_for(std::string_view name) const {
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
