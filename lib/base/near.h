// Spelling help: the known name that is nearest to a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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
  // The same, else the names themselves where only a few were offered: "there is 'x', 'y'"; or empty.
  std::string did_you_mean_or_all() const;

 private:
  std::string wanted_;
  std::string best_;
  std::vector<std::string> few_;  // the first that were offered
  size_t offered_ = 0;
  size_t best_distance_ = static_cast<size_t>(-1);
};

}  // namespace gedit
