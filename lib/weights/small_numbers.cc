#include "weights/small_numbers.h"

#include <bit>
#include <cstdint>
#include <limits>

namespace gedit {
namespace {

using ByteNumbers = std::array<float, 256>;

// What is no finite number: the exponent of all ones (IEEE 754), all ones alone (fn), -0 alone (fnuz),
// nothing.
enum class Extremes : uint8_t { kIeee, kAllOnes, kNegativeZero, kNone };

constexpr float times_power(int number, int power) {
  auto value = static_cast<float>(number);
  for (; power < 0; ++power) value /= 2;
  for (; power > 0; --power) value *= 2;
  return value;
}

// Bits above the sign do not count.
constexpr ByteNumbers small_floats(int bits, int fraction_bits, int bias, Extremes extremes) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::bit_cast<float>(0x7fc00000U);
  const int sign = 1 << (bits - 1), hidden = 1 << fraction_bits;
  ByteNumbers table{};
  for (int byte = 0; byte < 256; ++byte) {
    const int magnitude = byte & (sign - 1), fraction = magnitude & (hidden - 1);
    const int exponent = magnitude >> fraction_bits;
    float number = exponent == 0 ? times_power(fraction, 1 - bias - fraction_bits)
                                 : times_power(hidden + fraction, exponent - bias - fraction_bits);
    if (extremes == Extremes::kIeee && exponent == (sign - 1) >> fraction_bits)
      number = fraction == 0 ? kInfinity : kNan;
    if (extremes == Extremes::kAllOnes && magnitude == sign - 1) number = kNan;
    if (extremes == Extremes::kNegativeZero && (byte & (2 * sign - 1)) == sign) number = kNan;
    const uint32_t negative = (byte & sign) != 0 ? 0x80000000U : 0;
    table[static_cast<size_t>(byte)] = std::bit_cast<float>(std::bit_cast<uint32_t>(number) | negative);
  }
  return table;
}

constexpr ByteNumbers small_integers(int bits, bool is_signed) {
  const int end = 1 << bits;
  ByteNumbers table{};
  for (int byte = 0; byte < 256; ++byte) {
    const int number = byte & (end - 1);
    table[static_cast<size_t>(byte)] =
        static_cast<float>(is_signed && number >= end / 2 ? number - end : number);
  }
  return table;
}

struct SmallType {
  DType type;
  ByteNumbers numbers;
};
constexpr std::array kSmallTypes{
    SmallType{kFloat8E5m2, small_floats(8, 2, 15, Extremes::kIeee)},
    SmallType{kFloat8E4m3fn, small_floats(8, 3, 7, Extremes::kAllOnes)},
    SmallType{kFloat8E4m3fnuz, small_floats(8, 3, 8, Extremes::kNegativeZero)},
    SmallType{kFloat8E4m3b11fnuz, small_floats(8, 3, 11, Extremes::kNegativeZero)},
    SmallType{kFloat8E5m2fnuz, small_floats(8, 2, 16, Extremes::kNegativeZero)},
    SmallType{kInt4, small_integers(4, true)},
    SmallType{kUint4, small_integers(4, false)},
    SmallType{kInt2, small_integers(2, true)},
    SmallType{kUint2, small_integers(2, false)},
    SmallType{kFloat4E2m1fn, small_floats(4, 1, 1, Extremes::kNone)},
};

}  // namespace

const std::array<float, 256>* small_numbers(DType type) {
  for (const SmallType& row : kSmallTypes) {
    if (row.type == type) return &row.numbers;
  }
  return nullptr;
}

}  // namespace gedit
