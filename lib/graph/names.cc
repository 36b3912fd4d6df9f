// Open addressing with linear probing at a load of at most one half. The upper half of the hash beside the id
// saves a look at the record, and so a cache miss, for nearly all names that differ.
#include "graph/names.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/parallel.h"

namespace gedit {

uint64_t name_hash(std::string_view name) {
  // Multiply and fold, eight bytes a step.
  constexpr uint64_t kFirst = 0x9e3779b97f4a7c15, kSecond = 0xe7037ed1a0b428db;
  const auto fold = [](uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  uint64_t hash = name.size() * kFirst;
  const char* p = name.data();
  size_t left = name.size();
  for (; left >= 8; p += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    hash = fold(hash ^ word ^ kSecond, kFirst);
  }
  uint64_t tail = 0;
  if (left > 0) std::memcpy(&tail, p, left);
  return fold(hash ^ tail ^ kSecond, kFirst ^ left);
}

Names::Names(const Graph& graph) : graph_(graph) {
  const uint64_t wanted = std::bit_ceil(uint64_t{graph.size()} * 2 + 16);
  slots_.resize(wanted);
  mask_ = wanted - 1;
  // Hashed on all cores, since names are far apart; then put into their places in order, as the first of
  // several is meant. Four megabytes of hashes at a time.
  constexpr uint32_t kAtOnce = uint32_t{1} << 19;
  std::vector<uint64_t> hashes(std::min(graph.size(), kAtOnce));
  for (uint32_t begin = 0; begin < graph.size(); begin += std::min(kAtOnce, graph.size() - begin)) {
    const uint32_t end = begin + std::min(kAtOnce, graph.size() - begin);
    in_parallel(pieces_of(end - begin), [&](size_t piece) {
      const uint32_t from = begin + static_cast<uint32_t>(piece * kPerPiece);
      const uint32_t to = std::min(from + static_cast<uint32_t>(kPerPiece), end);
      for (uint32_t i = from; i < to; ++i) {
        if (!graph.removed(NodeId{i})) hashes[i - begin] = name_hash(graph.name(NodeId{i}));
      }
    });
    constexpr uint32_t kAhead = 16;  // the slots of the next names are on their way from memory
    for (uint32_t i = begin; i < end; ++i) {
      if (i + kAhead < end) __builtin_prefetch(&slots_[hashes[i + kAhead - begin] & mask_], 1);
      if (!graph.removed(NodeId{i})) insert(NodeId{i}, hashes[i - begin]);
    }
  }
}

void Names::insert(NodeId id, uint64_t hash) {
  uint64_t slot = hash & mask_;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask_) {
    if ((slots_[slot] ^ hash) >> 32 != 0) continue;
    if (graph_.name(NodeId{static_cast<uint32_t>(slots_[slot]) - 1}) != graph_.name(id)) continue;
    duplicates_.push_back(id);
    return;
  }
  slots_[slot] = (hash & 0xffffffff00000000) | (uint64_t{index_of(id)} + 1);
}

NodeId Names::find(std::string_view name) const {
  const uint64_t hash = name_hash(name);
  for (uint64_t slot = hash & mask_; slots_[slot] != 0; slot = (slot + 1) & mask_) {
    if ((slots_[slot] ^ hash) >> 32 != 0) continue;
    const NodeId id{static_cast<uint32_t>(slots_[slot]) - 1};
    if (graph_.name(id) == name) return id;
  }
  return kNoNode;
}

}  // namespace gedit
