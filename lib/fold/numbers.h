// Numbers as TensorFlow's kernels compute with them: integers that wrap, floats that stay clear of what
// machines disagree about.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/float16.h"
#include "fold/rule.h"

namespace gedit::folding {

// The 16-bit floats as they lie in a tensor.
struct HalfBits {
  uint16_t bits;
};
struct Bfloat16Bits {
  uint16_t bits;
};

template <typename T>
concept WholeNumber = std::integral<T> && !std::same_as<T, bool>;
template <typename T>
concept SmallFloat = std::same_as<T, HalfBits> || std::same_as<T, Bfloat16Bits>;
template <typename T>
concept FloatNumber = std::floating_point<T> || SmallFloat<T>;

inline float wide(HalfBits number) { return half_value(number.bits); }
inline float wide(Bfloat16Bits number) { return bfloat16_value(number.bits); }
template <typename T>
requires(!SmallFloat<T>) T wide(T number) { return number; }
template <typename T>
T narrow(std::conditional_t<SmallFloat<T>, float, T> number) {
  if constexpr (std::same_as<T, HalfBits>) {
    return {half_bits(number)};
  } else if constexpr (std::same_as<T, Bfloat16Bits>) {
    return {bfloat16_bits(number)};
  } else {
    return number;
  }
}

inline bool is_denormal(HalfBits number) { return (number.bits & 0x7c00) == 0 && (number.bits & 0x3ff) != 0; }
inline bool is_denormal(Bfloat16Bits number) {
  return (number.bits & 0x7f80) == 0 && (number.bits & 0x7f) != 0;
}
template <std::floating_point T>
bool is_denormal(T number) {
  return std::fpclassify(number) == FP_SUBNORMAL;
}

// Not folded: a denormal, which threads of TensorFlow take for a zero.
template <FloatNumber T>
void require_normal(T number) {
  FoldTask::require(!is_denormal(number), "a number is a denormal");
}
// Nor a NaN, of which the bits are anybody's.
template <FloatNumber T>
void require_plain(T number) {
  require_normal(number);
  FoldTask::require(!std::isnan(wide(number)), "a number is not a number");
}
// A result that was rounded up to the least normal number is one that some machines flush.
template <FloatNumber T>
void require_plain_result(T number) {
  require_plain(number);
  if constexpr (std::floating_point<T>) {
    FoldTask::require(std::abs(number) != std::numeric_limits<T>::min(), "a result is near a denormal");
  }
}

// Calls use(T{}) with the C++ type of the elements; false for another dtype.
template <typename Use>
bool with_whole_number(DType dtype, Use use) {
  switch (dtype) {
    case DType::kInt8:
      return use(int8_t{}), true;
    case DType::kInt16:
      return use(int16_t{}), true;
    case DType::kInt32:
      return use(int32_t{}), true;
    case DType::kInt64:
      return use(int64_t{}), true;
    case DType::kUint8:
      return use(uint8_t{}), true;
    case DType::kUint16:
      return use(uint16_t{}), true;
    case DType::kUint32:
      return use(uint32_t{}), true;
    case DType::kUint64:
      return use(uint64_t{}), true;
    default:
      return false;
  }
}

template <typename Use>
bool with_float_number(DType dtype, Use use) {
  switch (dtype) {
    case DType::kFloat:
      return use(float{}), true;
    case DType::kDouble:
      return use(double{}), true;
    case DType::kHalf:
      return use(HalfBits{}), true;
    case DType::kBfloat16:
      return use(Bfloat16Bits{}), true;
    default:
      return false;
  }
}

template <typename Use>
bool with_number(DType dtype, Use use) {
  return with_whole_number(dtype, use) || with_float_number(dtype, use);
}

template <typename T>
void append_number(std::string& bytes, T number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace gedit::folding
