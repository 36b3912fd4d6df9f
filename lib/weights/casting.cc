#include "weights/casting.h"

#include <algorithm>

#include "base/float16.h"
#include "weights/block.h"

namespace gedit {
namespace {

using Floats = Block<float>;

template <typename Number, typename Widen>
void read_block(const char* from, size_t count, Floats& to, Widen widen) {
  Block<Number> numbers;
  load(numbers, from, count);
  for (size_t i = 0; i < kBlockOfNumbers; ++i) to[i] = widen(numbers[i]);
}

// A double on its way to a type of 16 bits goes by float32, as TensorFlow has it (Eigen's half and bfloat16
// are made of float).
void as_floats(DType type, const char* from, size_t count, Floats& to) {
  if (type == DType::kFloat) return load(to, from, count);
  if (type == DType::kDouble)
    return read_block<double>(from, count, to, [](double number) { return static_cast<float>(number); });
  if (type == DType::kHalf)
    return read_block<uint16_t>(from, count, to, [](uint16_t bits) { return half_value(bits); });
  read_block<uint16_t>(from, count, to, [](uint16_t bits) { return bfloat16_value(bits); });
}

void from_floats(DType type, const Floats& from, char* to, size_t count) {
  if (type == DType::kFloat) return store(from, to, count);
  if (type == DType::kDouble)
    return store_made<double>(from, to, count, [](float number) { return static_cast<double>(number); });
  if (type == DType::kHalf)
    return store_made<uint16_t>(from, to, count, [](float number) { return half_bits(number); });
  store_made<uint16_t>(from, to, count, [](float number) { return bfloat16_bits(number); });
}

template <typename Bits>
uint64_t count_bits(std::string_view bytes, Bits infinity) {
  constexpr Bits kMagnitude = static_cast<Bits>(~Bits{0} >> 1);
  uint64_t total = 0;
  for (size_t left = bytes.size() / sizeof(Bits); left > 0;) {
    const size_t numbers = std::min(left, kBlockOfNumbers);
    Block<Bits> block;
    load(block, bytes.data(), numbers);
    Bits found = 0;  // as wide as what is counted, which no more than a block has
    for (size_t i = 0; i < kBlockOfNumbers; ++i)
      found = static_cast<Bits>(found + ((block[i] & kMagnitude) == infinity ? 1 : 0));
    total += found;
    bytes.remove_prefix(numbers * sizeof(Bits));
    left -= numbers;
  }
  return total;
}

}  // namespace

uint64_t count_infinite(DType type, std::string_view bytes) {
  if (type == DType::kHalf) return count_bits<uint16_t>(bytes, 0x7c00);
  if (type == DType::kBfloat16) return count_bits<uint16_t>(bytes, 0x7f80);
  if (type == DType::kFloat) return count_bits<uint32_t>(bytes, 0x7f800000U);
  return count_bits<uint64_t>(bytes, uint64_t{0x7ff} << 52);
}

std::string overflow_text(const std::string& subject, uint64_t count) {
  return subject + ": numbers that became infinite: " + std::to_string(count);
}

bool is_floating(DType type) {
  return type == DType::kHalf || type == DType::kBfloat16 || type == DType::kFloat || type == DType::kDouble;
}

bool becomes_narrower(DType from, DType to) {
  return is_floating(from) && dtype_width(from) > dtype_width(to);
}

void cast_elements(const Casting& casting, const char* from, char* to, size_t elements) {
  Floats floats;
  while (elements > 0) {
    const size_t count = std::min(elements, kBlockOfNumbers);
    as_floats(casting.from, from, count, floats);
    from_floats(casting.to, floats, to, count);
    from += count * dtype_width(casting.from);
    to += count * dtype_width(casting.to);
    elements -= count;
  }
}

}  // namespace gedit
