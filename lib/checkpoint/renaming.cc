#include "checkpoint/renaming.h"

#include <re2/re2.h>

#include <algorithm>

#include "base/argument_list.h"
#include "base/error.h"

namespace gedit {
namespace {}  // namespace

NamePair parse_name_pair(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) throw misused(text, "is not OLD=NEW");
  NamePair pair{.from = std::string(text.substr(0, equals)),
                .to = std::string(text.substr(equals + 1)),
                .scope = text[equals - 1] == '/',
                .text = std::string(text)};
  if (!pair.scope) {
    if (pair.to.empty()) throw misused(text, "NEW is empty");
    if (pair.to.ends_with('/'))
      throw misused(text, "OLD is a name, NEW a scope").hint(pair.from + "/=" + pair.to);
    return pair;
  }
  pair.from.pop_back();
  if (!pair.to.empty() && !pair.to.ends_with('/')) {
    throw misused(text, "OLD is a scope, NEW a name").hint(std::string(text) + "/");
  }
  if (!pair.to.empty()) pair.to.pop_back();
  return pair;
}

std::vector<NamePair> parse_name_pairs(const std::vector<std::string>& texts) {
  std::vector<NamePair> pairs;
  each_argument(texts, [&](std::string_view item, bool) { pairs.push_back(parse_name_pair(item)); });
  return pairs;
}

struct Renaming::Sed {
  std::unique_ptr<re2::RE2> pattern;
  std::string replacement;
  bool all = false;
  std::string text;
  mutable bool hit = false;
};

Renaming::Renaming() = default;
Renaming::~Renaming() = default;
Renaming::Renaming(Renaming&&) noexcept = default;
Renaming& Renaming::operator=(Renaming&&) noexcept = default;

void Renaming::add(NamePair pair) {
  auto& names = pair.scope ? scopes_ : exact_;
  if (!names.emplace(pair.from, pairs_.size()).second) throw misused(pair.text, "OLD is given twice");
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

void Renaming::add_sed(std::string_view text) {
  if (text.size() < 4 || text[0] != 's') throw misused(text, "is not s/RE/REPL/[g]");
  const char delimiter = text[1];
  std::vector<std::string> parts(1);
  size_t at = 2;
  for (; at < text.size() && parts.size() < 3; ++at) {
    if (text[at] == '\\' && at + 1 < text.size() && text[at + 1] == delimiter) {
      parts.back() += text[++at];
    } else if (text[at] == '\\' && at + 1 < text.size()) {
      parts.back() += text[at++];
      parts.back() += text[at];
    } else if (text[at] == delimiter) {
      parts.emplace_back();
    } else {
      parts.back() += text[at];
    }
  }
  const std::string_view flags = parts.size() == 3 ? text.substr(at) : std::string_view("?");
  if (!flags.empty() && flags != "g") throw misused(text, "is not s/RE/REPL/[g]");
  Sed sed;
  re2::RE2::Options quiet;
  quiet.set_log_errors(false);
  sed.pattern = std::make_unique<re2::RE2>(parts[0], quiet);
  if (!sed.pattern->ok()) throw misused(text, sed.pattern->error());
  std::string error;
  if (!sed.pattern->CheckRewriteString(parts[1], &error)) throw misused(text, error);
  sed.replacement = std::move(parts[1]);
  sed.all = flags == "g";
  sed.text = text;
  seds_.push_back(std::move(sed));
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
  for (const Sed& sed : seds_) {
    const bool hit = sed.all ? re2::RE2::GlobalReplace(&result, *sed.pattern, sed.replacement) > 0
                             : re2::RE2::Replace(&result, *sed.pattern, sed.replacement);
    sed.hit = sed.hit || hit;
  }
  return result;
}

std::optional<Renaming::Idle> Renaming::idle() const {
  for (size_t i = 0; i < pairs_.size(); ++i) {
    if (!hits_[i]) return Idle{.text = pairs_[i].from + (pairs_[i].scope ? "/" : ""), .expression = false};
  }
  for (const Sed& sed : seds_) {
    if (!sed.hit) return Idle{.text = sed.text, .expression = true};
  }
  return std::nullopt;
}

}  // namespace gedit
