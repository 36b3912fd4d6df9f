// What completion offers for the word at the cursor: few candidates, found in little time.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace gedit {

// Candidates for one word. All begin with what is typed of it; each stands for the whole word.
class Candidates {
 public:
  explicit Candidates(std::string typed) : typed_(std::move(typed)) {}

  const std::string& typed() const { return typed_; }

  // Offers `word`, unless it does not continue what is typed, or was offered before. `about` is shown beside
  // it.
  void offer(std::string word, std::string_view about = {});
  void offer_files() { files_ = true; }  // the shell completes names of files

  // Whether it is time to answer: there are as many as a screen shows, or a person would notice the wait.
  bool enough();

  // A line each, `WORD` or `WORD<TAB>ABOUT`; `:files` where the shell is to complete names of files.
  std::string text() const { return text_.empty() && files_ ? ":files\n" : text_; }

 private:
  using Clock = std::chrono::steady_clock;

  std::string typed_, text_;
  std::unordered_set<std::string> words_;
  bool files_ = false;
  unsigned asked_ = 0;
  Clock::time_point end_ = Clock::now() + std::chrono::milliseconds(35);
};

}  // namespace gedit
