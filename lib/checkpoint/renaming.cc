#include "checkpoint/renaming.h"

#include <algorithm>

#include "base/argument_list.h"
#include "base/error.h"

namespace gedit {

NamePair name_pair(OldNew pair) {
  const bool scope = pair.is_scope();
  for (std::string* name : {&pair.from, &pair.to}) {
    if (name->ends_with('/')) name->pop_back();
  }
  return {std::move(pair.from), std::move(pair.to), scope, std::move(pair.written)};
}

NamePair parse_name_pair(std::string_view text) { return name_pair(parse_old_new(text, text)); }

std::vector<NamePair> parse_name_pairs(const std::vector<std::string>& texts) {
  std::vector<NamePair> pairs;
  each_argument(texts, [&](std::string_view item, bool) { pairs.push_back(parse_name_pair(item)); });
  return pairs;
}

void Renaming::add(NamePair pair) {
  auto& names = pair.scope ? scopes_ : exact_;
  if (!names.emplace(pair.from, pairs_.size()).second)
    throw misused(pair.text, "'" + pair.from + "' is given twice");
  longest_ = std::max(longest_, pair.from.size());
  pairs_.push_back(std::move(pair));
  hits_.push_back(false);
}

void Renaming::index() {
  exact_.clear();
  scopes_.clear();
  longest_ = 0;
  for (size_t i = 0; i < pairs_.size(); ++i) {
    (pairs_[i].scope ? scopes_ : exact_).emplace(pairs_[i].from, i);
    longest_ = std::max(longest_, pairs_[i].from.size());
  }
}

void Renaming::add(Substitution expression) {
  expressions_.push_back(std::move(expression));
  expression_hits_.push_back(false);
}

std::string Renaming::apply(std::string_view name, bool below) const {
  const NamePair* found = nullptr;
  size_t matched = 0;  // length of OLD
  const auto take = [&](const std::map<std::string, size_t, std::less<>>& names, std::string_view from) {
    const auto place = names.find(from);
    if (place == names.end()) return false;
    const NamePair& pair = pairs_[place->second];
    if (pair.scope && pair.to.empty() && from == name) return false;  // nothing would be left of it
    hits_[place->second] = true;
    found = &pair;
    matched = from.size();
    return true;
  };
  if (!pairs_.empty()) {
    if (name.size() > longest_ || (!take(exact_, name) && !take(scopes_, name))) {
      std::string_view prefix = name.substr(0, longest_ + 1);  // no OLD ends behind it
      while (found == nullptr) {
        const size_t slash = prefix.rfind('/');
        if (slash == std::string_view::npos) break;
        prefix = name.substr(0, slash);
        if (!(below && take(exact_, prefix)) && !prefix.empty()) take(scopes_, prefix);
      }
      if (found == nullptr && !name.empty()) take(scopes_, "");
    }
  }
  std::string_view to, joint, rest = name.substr(matched);
  if (found != nullptr) {
    to = found->to;
    if (matched == 0 && !to.empty()) joint = "/";
    if (matched != 0 && to.empty()) rest = rest.substr(1);
  }
  std::string result;
  result.reserve(to.size() + joint.size() + rest.size());
  result.append(to).append(joint).append(rest);
  for (size_t i = 0; i < expressions_.size(); ++i) {
    if (expressions_[i].apply(result)) expression_hits_[i] = true;
  }
  return result;
}

std::optional<Renaming::Idle> Renaming::idle() const {
  for (size_t i = 0; i < pairs_.size(); ++i) {
    if (!hits_[i]) return Idle{.text = pairs_[i].from + (pairs_[i].scope ? "/" : ""), .expression = false};
  }
  for (size_t i = 0; i < expressions_.size(); ++i) {
    if (!expression_hits_[i]) return Idle{.text = expressions_[i].text(), .expression = true};
  }
  return std::nullopt;
}

}  // namespace gedit
