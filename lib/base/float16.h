// The 16-bit floating point formats, half and bfloat16, as their bits. Without branches, so that a compiler
// makes several of them at once.
#pragma once

#include <bit>
#include <cstdint>

namespace gedit {

// `yes` or `no`; never a jump, so that a loop of it becomes one of vectors.
constexpr uint32_t either(bool which, uint32_t yes, uint32_t no) {
  return no ^ ((yes ^ no) & (0 - static_cast<uint32_t>(which)));
}

// Exact: every half is a float32.
constexpr float half_value(uint16_t bits) {
  constexpr uint32_t kLeast = 113U << 23;  // the exponent of the least normal half, as a float has it
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = bits & 0x7c00;
  const uint32_t magnitude = (static_cast<uint32_t>(bits & 0x7fff) << 13) + (112U << 23);
  const uint32_t large = magnitude + either(exponent == 0x7c00, 112U << 23, 0);  // infinity and NaN
  // Of a denormal half the fraction is what stands behind a one that is not there.
  const auto denormal = std::bit_cast<uint32_t>(std::bit_cast<float>((magnitude & 0x7fffff) | kLeast) -
                                                std::bit_cast<float>(kLeast));
  return std::bit_cast<float>(sign | either(exponent == 0, denormal, large));
}

// Rounds to the nearest, ties to even; what is too large becomes infinity, a NaN stays one.
constexpr uint16_t half_bits(float value) {
  constexpr uint32_t kOne =
      126U << 23;  // of a float from 0.5 on, the last bit is the last of a denormal half
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7fffffff;
  // A carry into the exponent is right.
  const uint32_t normal = (magnitude - (112U << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  const uint32_t small = either(magnitude < 0x38800000, magnitude, 0);
  const uint32_t denormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(small) + std::bit_cast<float>(kOne)) - kOne;
  const uint32_t large = either(magnitude > 0x7f800000, 0x7e00, 0x7c00);
  const uint32_t finite = either(magnitude < 0x38800000, denormal, normal);
  return static_cast<uint16_t>((bits >> 16 & 0x8000) | either(magnitude >= 0x47800000, large, finite));
}

constexpr float bfloat16_value(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// Rounds to the nearest, ties to even; a NaN stays one.
constexpr uint16_t bfloat16_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? (bits >> 16) | 0x40 : rounded);
}

}  // namespace gedit
