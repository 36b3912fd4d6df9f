#include "base/substitution.h"

#include <re2/re2.h>

#include <vector>

#include "base/error.h"

namespace gedit {
namespace {

// What stands between the delimiters; one behind a backslash is a character of its part.
std::vector<std::string> parts_of(std::string_view text) {
  const char delimiter = text[1];
  std::vector<std::string> parts{""};
  for (size_t i = 2; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      if (text[i + 1] != delimiter) parts.back() += text[i];
      parts.back() += text[++i];
    } else if (text[i] == delimiter) {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
  }
  return parts;
}

struct Replacement {
  std::string rewrite, literal;
  bool plain = true;  // it is this literal
};

Replacement replacement_of(std::string_view text) {
  Replacement made;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '&') {
      made.rewrite += "\\0";
      made.plain = false;
    } else if (c == '\\' && i + 1 < text.size()) {
      const char next = text[++i];
      const bool digit = next >= '0' && next <= '9';
      made.plain = made.plain && !digit;
      made.rewrite += digit ? std::string{'\\', next} : next == '\\' ? "\\\\" : std::string{next};
      made.literal += next;
    } else {
      made.rewrite += c;
      made.literal += c;
    }
  }
  return made;
}

}  // namespace

Substitution::~Substitution() = default;
Substitution::Substitution(Substitution&&) noexcept = default;
Substitution& Substitution::operator=(Substitution&&) noexcept = default;

Substitution::Substitution(std::string_view text) : text_(text) {
  const auto none = [&] { return misused(text_, "is no substitution").hint("s/RE/REPLACEMENT/[g]"); };
  if (text.size() < 4 || text[0] != 's') throw none();
  const std::vector<std::string> parts = parts_of(text);
  if (parts.size() != 3 || (!parts[2].empty() && parts[2] != "g")) throw none();
  all_ = parts[2] == "g";
  re2::RE2::Options options;
  options.set_log_errors(false);
  regex_ = std::make_unique<re2::RE2>(parts[0], options);
  if (!regex_->ok()) throw misused(text_, regex_->error());
  Replacement replacement = replacement_of(parts[1]);
  std::string error;
  if (!regex_->CheckRewriteString(replacement.rewrite, &error)) throw misused(text_, error);
  rewrite_ = std::move(replacement.rewrite);
  if (parts[0] == "^" && replacement.plain) prefix_ = std::move(replacement.literal);
}

bool Substitution::apply(std::string& name) const {
  if (prefix_) {
    name.insert(0, *prefix_);
    return true;
  }
  return all_ ? re2::RE2::GlobalReplace(&name, *regex_, rewrite_) > 0
              : re2::RE2::Replace(&name, *regex_, rewrite_);
}

}  // namespace gedit
