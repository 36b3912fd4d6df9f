// sed's `s/RE/REPL/[g]` on a name (docs/rules.md#rename-pairs).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace gedit {

class Substitution {
 public:
  // Any delimiter; RE2 syntax; in REPL `\1` and `&` as in sed. Throws Error (kUsage).
  explicit Substitution(std::string_view text);
  ~Substitution();
  Substitution(Substitution&&) noexcept;
  Substitution& operator=(Substitution&&) noexcept;

  // Whether anything in the name was replaced.
  bool apply(std::string& name) const;

  const std::string& text() const { return text_; }
  // Where it only puts this in front of every name.
  const std::optional<std::string>& prefix() const { return prefix_; }

 private:
  std::string text_;
  std::unique_ptr<re2::RE2> regex_;
  std::string rewrite_;  // RE2's form: \1, \0
  bool all_ = false;
  std::optional<std::string> prefix_;
};

}  // namespace gedit
