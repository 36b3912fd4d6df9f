// The 16-bit floating point formats, half and bfloat16, as their bits.
#pragma once

#include <bit>
#include <cstdint>

namespace gedit {

// Exact: every half is a float32.
constexpr float half_value(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = (bits >> 10) & 31;
  uint32_t fraction = bits & 1023;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000U | (fraction << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  if (fraction == 0) return std::bit_cast<float>(sign);
  uint32_t shift = 0;  // a denormal half is a normal float
  for (; (fraction & 1024) == 0; ++shift) fraction <<= 1;
  return std::bit_cast<float>(sign | ((113 - shift) << 23) | ((fraction & 1023) << 13));
}

// Rounds to the nearest, ties to even; what is too large becomes infinity, a NaN stays one.
constexpr uint16_t half_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);
  if (magnitude >= 0x47800000) return static_cast<uint16_t>(sign | 0x7c00);  // from 65536 on
  if (magnitude < 0x33000000) return sign;  // below half of the least denormal
  const int exponent = static_cast<int>(magnitude >> 23) - 112;
  const uint32_t fraction = (magnitude & 0x7fffff) | (exponent <= 0 ? 0x800000U : 0U);
  const int dropped = exponent <= 0 ? 14 - exponent : 13;  // bits that do not fit
  uint32_t kept = fraction >> dropped;
  if (exponent > 0) kept |= static_cast<uint32_t>(exponent) << 10;
  const uint32_t rest = fraction & ((1U << dropped) - 1);
  const uint32_t tie = 1U << (dropped - 1);
  if (rest > tie || (rest == tie && (kept & 1) != 0)) ++kept;  // a carry into the exponent is right
  return static_cast<uint16_t>(sign | kept);
}

constexpr float bfloat16_value(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// Rounds to the nearest, ties to even; a NaN stays one.
constexpr uint16_t bfloat16_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace gedit
