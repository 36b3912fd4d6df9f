#include "graph/listing_map.h"

#include <algorithm>

namespace gedit {

std::string_view merged(std::string_view message, uint32_t number, std::list<std::string>& kept) {
  std::string_view content;
  bool found = false;
  bool copied = false;
  for (Fields fields(message); fields.next();) {
    if (!fields->bytes(number)) continue;
    if (!found) {
      content = fields->value;
      found = true;
      continue;
    }
    if (!copied) kept.emplace_back(content);
    copied = true;
    kept.back() += fields->value;
    content = kept.back();
  }
  return content;
}

void StringMap::add(std::string_view entry) {
  MapEntry read;
  size_t values = 0;
  for (Fields fields(entry); fields.next();) {
    if (fields->bytes(1)) read.key = fields->value;
    if (!fields->bytes(2)) continue;
    read.value = fields->value;
    ++values;
  }
  if (values > 1) read.value = merged(entry, 2, kept_);
  if (entries_.empty()) entries_.reserve(8);  // few nodes have more
  entries_.push_back(read);
}

const std::vector<MapEntry>& StringMap::sorted() {
  const auto by_key = [](const MapEntry& a, const MapEntry& b) { return a.key < b.key; };
  const auto same_key = [](const MapEntry& a, const MapEntry& b) { return a.key == b.key; };
  if (!std::ranges::is_sorted(entries_, by_key)) std::ranges::stable_sort(entries_, by_key);
  // Keeps the last of equal keys: going backwards, the first one met.
  const auto kept = std::unique(entries_.rbegin(), entries_.rend(), same_key);
  entries_.erase(entries_.begin(), kept.base());
  return entries_;
}

}  // namespace gedit
