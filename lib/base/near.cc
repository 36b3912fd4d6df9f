// Levenshtein distance with a band: a candidate that cannot beat the best so far is dropped after a length
// test or after the first row that exceeds it.
#include "base/near.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

#include "base/error.h"

namespace gedit {
namespace {

// Edits from a to b with transposed neighbours as one, or `limit` where there are at least that many.
size_t distance(std::string_view a, std::string_view b, size_t limit) {
  const size_t difference = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (difference >= limit) return limit;
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    size_t least = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = a[i - 1] == b[j - 1];
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
      least = std::min(least, row[j]);
    }
    if (least >= limit) return limit;
    std::swap(before, last);
    std::swap(last, row);
  }
  return std::min(last[b.size()], limit);
}

bool last_part(std::string_view whole, std::string_view part) {
  return whole.size() > part.size() && whole.ends_with(part) && whole[whole.size() - part.size() - 1] == '/';
}

// `h1/w` of `h1/weights`.
bool first_letters(std::string_view whole, std::string_view part) {
  return part.size() > 2 && whole.starts_with(part) && !part.ends_with('/') &&
         whole.find('/', part.size()) == std::string_view::npos;
}

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char one, char other) {
    return std::tolower(static_cast<unsigned char>(one)) == std::tolower(static_cast<unsigned char>(other));
  });
}

constexpr size_t kFew = 6;

}  // namespace

void Near::offer(std::string_view candidate) {
  if (offered_++ < kFew) few_.emplace_back(candidate);
  const size_t longest = std::max(wanted_.size(), candidate.size());
  size_t limit = std::min(best_distance_, longest / 3 + 1);
  size_t found = distance(wanted_, candidate, limit);
  if (found >= limit && best_distance_ > 2 &&
      (last_part(candidate, wanted_) || first_letters(candidate, wanted_))) {
    found = 2;  // the scope, or the end, was forgotten: as good as two typing errors
    limit = 3;
  }
  if (best_distance_ > 1 && same_letters(wanted_, candidate)) {
    found = 1;  // `Y` for `y`, however short
    limit = 2;
  }
  if (found >= limit) return;
  best_ = candidate;
  best_distance_ = found;
}

std::string Near::did_you_mean() const {
  return best_.empty() ? "" : "did you mean '" + printable(best_) + "'?";
}

std::string Near::did_you_mean_or_all() const {
  if (!best_.empty() || few_.empty() || offered_ > kFew) return did_you_mean();
  std::string names;
  for (const std::string& name : few_)
    names += (names.empty() ? "there is '" : ", '") + printable(name) + "'";
  return names;
}

}  // namespace gedit
