#include "weights/part.h"

#include <charconv>

#include "base/error.h"
#include "weights/store.h"

namespace gedit {

WorkPart parse_part(std::string_view text) {
  WorkPart part{0, 0};
  const char* end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, part.number);
  if (number.ec == std::errc() && number.ptr != end && *number.ptr == '/') {
    const auto count = std::from_chars(number.ptr + 1, end, part.count);
    if (count.ec == std::errc() && count.ptr == end && part.number >= 1 && part.number <= part.count &&
        part.count <= 99999)
      return part;
  }
  throw misused(text, "is not I/N, as 1/8").of(quoted("--part", text));
}

std::vector<bool> in_part(const std::vector<uint64_t>& sizes, const WorkPart& part) {
  const std::vector<uint32_t> where = divide(sizes, StoreOptions{.shards = part.count});
  std::vector<bool> in(where.size());
  for (size_t i = 0; i < where.size(); ++i) in[i] = where[i] + 1 == part.number;
  return in;
}

void keep_part(Weights& weights, const WorkPart& part) {
  if (part.count == 1) return;
  std::vector<uint64_t> sizes;
  for (const Weight& weight : weights.weights) sizes.push_back(weight.values ? weight.values->size() : 0);
  const std::vector<bool> in = in_part(sizes, part);
  std::vector<Weight> kept;
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i]) kept.push_back(std::move(weights.weights[i]));
  }
  weights.weights = std::move(kept);
}

}  // namespace gedit
