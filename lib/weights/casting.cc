#include "weights/casting.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/float16.h"
#include "weights/block.h"
#include "weights/small_numbers.h"

namespace gedit {
namespace {

using Floats = Block<float>;

constexpr uint32_t kInfiniteFloat = 0x7f800000, kFloatMagnitude = 0x7fffffff;

// NaNs as TensorFlow 2.21 casts them on x86: of a half, and to one, with the bits in front of their fraction,
// as the processor's own instructions do; to bfloat16 without.
float quieted(float number) {
  const auto bits = std::bit_cast<uint32_t>(number);
  return std::bit_cast<float>(bits | either((bits & kFloatMagnitude) > kInfiniteFloat, 0x00400000, 0));
}

uint16_t cast_half(float number) {
  const auto bits = std::bit_cast<uint32_t>(number);
  return static_cast<uint16_t>(half_bits(number) |
                               either((bits & kFloatMagnitude) > kInfiniteFloat, bits >> 13 & 0x3ff, 0));
}

uint16_t cast_bfloat16(float number, uint16_t sign_of_nan) {
  const auto bits = std::bit_cast<uint32_t>(number);
  const uint32_t nan = (bits >> 16 & sign_of_nan) | 0x7fc0;
  return static_cast<uint16_t>(either((bits & kFloatMagnitude) > kInfiniteFloat, nan, bfloat16_bits(number)));
}

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
    return read_block<uint16_t>(from, count, to, [](uint16_t bits) { return quieted(half_value(bits)); });
  if (type == DType::kBfloat16)
    return read_block<uint16_t>(from, count, to, [](uint16_t bits) { return bfloat16_value(bits); });
  const auto& numbers = *small_numbers(type);
  read_block<uint8_t>(from, count, to, [&](uint8_t byte) { return numbers[byte]; });
}

void from_floats(const Casting& casting, const Floats& from, char* to, size_t count) {
  const DType type = casting.to;
  if (type == DType::kFloat) return store(from, to, count);
  if (type == DType::kDouble)
    return store_made<double>(from, to, count, [](float number) { return static_cast<double>(number); });
  if (type == DType::kHalf)
    return store_made<uint16_t>(from, to, count, [](float number) { return cast_half(number); });
  const uint16_t sign_of_nan = casting.from == DType::kFloat ? 0 : 0x8000;
  store_made<uint16_t>(from, to, count, [=](float number) { return cast_bfloat16(number, sign_of_nan); });
}

// Calls use(bits) with those of infinity.
template <typename Use>
uint64_t with_infinity(DType type, Use use) {
  if (type == DType::kHalf) return use(uint16_t{0x7c00});
  if (type == DType::kBfloat16) return use(uint16_t{0x7f80});
  if (type == DType::kFloat) return use(uint32_t{0x7f800000});
  return use(uint64_t{0x7ff} << 52);
}

template <typename Bits>
bool any_infinite(const Block<Bits>& numbers, Bits infinity) {
  constexpr Bits kMagnitude = std::numeric_limits<Bits>::max() >> 1;
  Bits found = 0;  // as wide as what is looked at: so they are taken many at a time
  for (const Bits bits : numbers) found |= static_cast<Bits>((bits & kMagnitude) == infinity ? 1 : 0);
  return found != 0;
}

// Of one block, how many were finite and are infinite.
uint64_t count_overflows(const Casting& casting, const char* from, const char* to, size_t count) {
  const bool wider = dtype_width(casting.to) > dtype_width(casting.from);
  if (wider || casting.from == DType::kHalf) return 0;
  return with_infinity(casting.from, [&]<typename From>(From infinity) {
    return with_infinity(casting.to, [&]<typename To>(To infinity_after) {
      Block<To> after;
      load(after, to, count);
      if (!any_infinite(after, infinity_after)) return uint64_t{0};
      Block<From> before;
      load(before, from, count);
      constexpr To kMagnitude = std::numeric_limits<To>::max() >> 1;
      uint32_t found = 0;
      for (size_t i = 0; i < kBlockOfNumbers; ++i) {
        const uint32_t finite = (before[i] & infinity) != infinity ? 1 : 0;
        const uint32_t infinite = (after[i] & kMagnitude) == infinity_after ? 1 : 0;
        found += finite & infinite;
      }
      return uint64_t{found};
    });
  });
}

}  // namespace

std::string overflow_text(const std::string& subject, uint64_t count) {
  return subject + ": numbers that became infinite: " + std::to_string(count);
}

bool is_floating(DType type) {
  return type == DType::kHalf || type == DType::kBfloat16 || type == DType::kFloat || type == DType::kDouble;
}

bool can_be_cast(DType type) { return is_floating(type) || is_small_float(type); }

bool becomes_narrower(DType from, DType to) {
  return is_floating(from) && dtype_width(from) > dtype_width(to);
}

uint64_t cast_elements(const Casting& casting, const char* from, char* to, size_t elements) {
  uint64_t overflows = 0;
  Floats floats;
  while (elements > 0) {
    const size_t count = std::min(elements, kBlockOfNumbers);
    as_floats(casting.from, from, count, floats);
    from_floats(casting, floats, to, count);
    overflows += count_overflows(casting, from, to, count);
    from += count * dtype_width(casting.from);
    to += count * dtype_width(casting.to);
    elements -= count;
  }
  return overflows;
}

}  // namespace gedit
