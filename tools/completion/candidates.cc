#include "completion/candidates.h"

namespace gedit {
namespace {

constexpr size_t kMostOffered = 200;

}  // namespace

void Candidates::offer(std::string word, std::string_view about) {
  // A line break would make two of it.
  if (words_.size() >= kMostOffered || !word.starts_with(typed_) ||
      word.find_first_of("\n\t") != std::string::npos)
    return;
  const auto [place, fresh] = words_.insert(std::move(word));
  if (!fresh) return;
  text_ += *place;
  if (!about.empty()) text_.append("\t").append(about);
  text_ += '\n';
}

bool Candidates::enough() {
  if (words_.size() >= kMostOffered) return true;
  return ++asked_ % 1024 == 0 && Clock::now() > end_;
}

}  // namespace gedit
