// OLD=NEW pairs and sed expressions, applied to the names of tensors at once.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gedit {

// `a=b` one name; `a/=b/` a scope: `a` and all under it; `a/=` strips it; `/=b/` puts everything below b.
struct NamePair {
  std::string from, to;  // scopes without their last slash
  bool scope = false;
  std::string text;  // as it was given
};

// Throws Error (kUsage) where the text is no pair.
NamePair parse_name_pair(std::string_view text);

// The same of several, where `@FILE` stands for the lines of a file. Throws Error (kInput) where it cannot be
// read.
std::vector<NamePair> parse_name_pairs(const std::vector<std::string>& texts);

class Renaming {
 public:
  Renaming();
  ~Renaming();
  Renaming(Renaming&&) noexcept;
  Renaming& operator=(Renaming&&) noexcept;

  void add(NamePair pair);
  // `s/RE/REPL/[g]`, any delimiter, RE2 syntax with `\1`; in order, after the pairs. Throws Error (kUsage).
  void add_sed(std::string_view text);

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
  struct Sed;

  std::vector<NamePair> pairs_;
  std::map<std::string, size_t, std::less<>> exact_, scopes_;
  size_t longest_ = 0;  // bytes of an OLD: what is longer need not be looked up
  std::vector<Sed> seds_;
  mutable std::vector<bool> hits_;
};

}  // namespace gedit
