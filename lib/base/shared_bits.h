// Bits that all cores set at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gedit {

class SharedBits {
 public:
  explicit SharedBits(size_t count) : words_((count + 63) / 64) {}

  bool has(size_t i) const { return i / 64 < words_.size() && (words_[i / 64] & bit(i)) != 0; }
  // Whether it was not set.
  bool set(size_t i) {
    const std::atomic_ref<uint64_t> word(words_[i / 64]);
    return (word.load(std::memory_order_relaxed) & bit(i)) == 0 &&
           (word.fetch_or(bit(i), std::memory_order_relaxed) & bit(i)) == 0;
  }

 private:
  static uint64_t bit(size_t i) { return uint64_t{1} << (i % 64); }

  std::vector<uint64_t> words_;
};

}  // namespace gedit
