#include "weights/dedupe.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "checkpoint/values.h"

namespace gedit {
namespace {

constexpr uint64_t kLookedAt = uint64_t{4} << 20;  // bytes at a time

// Both lie in files that are mapped; what was looked at is given back.
bool equal_bytes(DataFiles& files, const Place& a, const Place& b) {
  for (uint64_t at = 0; at < a.size; at += kLookedAt) {
    const uint64_t size = std::min(kLookedAt, a.size - at);
    const std::string_view x = files.bytes({a.shard, a.offset + at, size, 0});
    const std::string_view y = files.bytes({b.shard, b.offset + at, size, 0});
    const bool equal = x == y;
    if (const auto file = files.file(a.shard)) file->forget(x);
    if (const auto file = files.file(b.shard)) file->forget(y);
    if (!equal) return false;
  }
  return true;
}

}  // namespace

size_t share_equal_bytes(Checkpoint& checkpoint) {
  Checkpoint there;  // places as they were, for reading
  there.prefix = checkpoint.prefix;
  there.shards = checkpoint.shards;
  DataFiles files(there);
  std::map<std::tuple<uint64_t, uint32_t, Shard::Form>, std::vector<Place>> known;
  std::map<Place, Place> moved;
  size_t gone = 0;
  const auto share = [&](Place& place) {
    if (place.size == 0 || in_table(checkpoint, place)) return;
    if (const auto done = moved.find(place); done != moved.end()) {
      place = done->second;
      return;
    }
    const Place from = place;
    std::vector<Place>& alike = known[{place.size, place.crc32c, checkpoint.shards.at(place.shard).form}];
    for (const Place& other : alike) {
      if (!equal_bytes(files, other, place)) continue;
      place = other;
      ++gone;
      break;
    }
    if (place == from) alike.push_back(from);
    moved.emplace(from, place);
  };
  for (Tensor& tensor : checkpoint.tensors) {
    if (!tensor.partitioned()) share(tensor.place);
    for (Slice& slice : tensor.slices) share(slice.place);
  }
  return gone;
}

}  // namespace gedit
