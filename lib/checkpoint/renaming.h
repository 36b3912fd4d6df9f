// OLD=NEW pairs and sed expressions, applied to the names of tensors at once.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/old_new.h"
#include "base/substitution.h"

namespace gedit {

// A pair of base/old_new.h, where a scope `a/` also means the name `a`.
struct NamePair {
  std::string from, to;  // scopes without their last slash
  bool scope = false;
  std::string text;  // as it was given
};

NamePair name_pair(OldNew pair);
// Throws Error (kUsage) where the text is no pair.
NamePair parse_name_pair(std::string_view text);

// The same of several, where `@FILE` stands for the lines of a file. Throws Error (kInput) where it cannot be
// read.
std::vector<NamePair> parse_name_pairs(const std::vector<std::string>& texts);

class Renaming {
 public:
  void add(NamePair pair);
  void add(Substitution expression);  // in order, after the pairs

  // The new name. The longest OLD decides. `below`: OLD without a slash means all under it too (object
  // paths).
  std::string apply(std::string_view name, bool below = false) const;

  // Whether it is an OLD without a slash.
  bool names(std::string_view name) const { return exact_.contains(name); }

  // The first pair (its OLD) or expression that has hit nothing so far.
  struct Idle {
    std::string text;
    bool expression = false;
  };
  std::optional<Idle> idle() const;

  std::vector<NamePair>& pairs() { return pairs_; }
  const std::vector<NamePair>& pairs() const { return pairs_; }
  void index();  // after a change of pairs()

 private:
  std::vector<NamePair> pairs_;
  std::map<std::string, size_t, std::less<>> exact_, scopes_;
  size_t longest_ = 0;  // bytes of an OLD: what is longer need not be looked up
  std::vector<Substitution> expressions_;
  mutable std::vector<bool> hits_, expression_hits_;
};

}  // namespace gedit
