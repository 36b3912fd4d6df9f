// Finds by hash what somebody keeps in a list.
#pragma once

#include <cstdint>
#include <vector>

namespace gedit {

// Open addressing at a load of at most one half, eight bytes a slot. Things are told apart by the upper half
// of their hashes, which is good in all its bits, and then by whoever has them.
class HashIndex {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

  // The index of what is equal; kNone where there is none. `equal(index)` tells.
  template <typename Equal>
  uint32_t find(uint64_t hash, Equal equal) const {
    if (slots_.empty()) return kNone;
    const uint64_t wanted = hash >> 32;
    for (uint64_t at = wanted & mask(); slots_[at] != 0; at = (at + 1) & mask()) {
      if (slots_[at] >> 32 != wanted) continue;
      if (const uint32_t index = static_cast<uint32_t>(slots_[at]) - 1; equal(index)) return index;
    }
    return kNone;
  }
  // What was not found.
  void add(uint64_t hash, uint32_t index) {
    if ((count_ + 1) * 2 > slots_.size()) {
      const std::vector<uint64_t> old = std::move(slots_);
      slots_.assign(old.empty() ? 64 : old.size() * 2, 0);
      for (const uint64_t slot : old) {
        if (slot != 0) put(slot);
      }
    }
    put(hash >> 32 << 32 | (uint64_t{index} + 1));
    ++count_;
  }

 private:
  uint64_t mask() const { return slots_.size() - 1; }
  void put(uint64_t slot) {
    uint64_t at = slot >> 32 & mask();
    while (slots_[at] != 0) at = (at + 1) & mask();
    slots_[at] = slot;
  }
  std::vector<uint64_t> slots_;  // upper half: that of the hash; lower half: index + 1, 0: free
  size_t count_ = 0;
};

}  // namespace gedit
