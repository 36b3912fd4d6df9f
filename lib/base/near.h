// Spelling help: the known name that is nearest to a mistyped one.
#pragma once

#include <string>
#include <string_view>

namespace gedit {

// Collects candidates one by one and keeps the best, so that a million names cost no memory.
//   Near near("logit"); for (name) near.offer(name); error.hint(near.did_you_mean());
class Near {
 public:
  explicit Near(std::string_view wanted) : wanted_(wanted) {}

  void offer(std::string_view candidate);

  // Empty where nothing is near: more than a third of the letters differ, and neither is the other's last
  // part or its beginning.
  const std::string& best() const { return best_; }
  std::string did_you_mean() const;  // "did you mean 'logits'?", or empty

 private:
  std::string wanted_;
  std::string best_;
  size_t best_distance_ = static_cast<size_t>(-1);
};

}  // namespace gedit
