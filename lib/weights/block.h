// Numbers in blocks of one length, which fits into the first cache: of a loop over a length that it knows, a
// compiler makes vectors.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace gedit {

constexpr size_t kBlockOfNumbers = 1024;

template <typename Number>
using Block = std::array<Number, kBlockOfNumbers>;

// The first `count` of the block, which need not be aligned at `from`; zeros behind them.
template <typename Number>
void load(Block<Number>& block, const char* from, size_t count) {
  std::memcpy(block.data(), from, count * sizeof(Number));
  std::fill(block.begin() + static_cast<ptrdiff_t>(count), block.end(), Number{});
}

template <typename Number>
void store(const Block<Number>& block, char* to, size_t count) {
  std::memcpy(to, block.data(), count * sizeof(Number));
}

// The first `count` of what each number becomes.
template <typename Number, typename From, typename Make>
void store_made(const Block<From>& from, char* to, size_t count, Make make) {
  Block<Number> numbers;
  for (size_t i = 0; i < kBlockOfNumbers; ++i) numbers[i] = make(from[i]);
  store(numbers, to, count);
}

}  // namespace gedit
