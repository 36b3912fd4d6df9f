#include "weights/casting.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/float16.h"

namespace gedit {
namespace {

constexpr size_t kBlockOfNumbers = 1024;  // in the first cache

// A double on its way to a type of 16 bits goes by float32, as TensorFlow has it (Eigen's half and bfloat16
// are made of float).
void as_floats(DType type, const char* from, float* to, size_t count) {
  if (type == DType::kFloat) {
    std::memcpy(to, from, count * sizeof *to);
    return;
  }
  if (type == DType::kDouble) {
    std::array<double, kBlockOfNumbers> numbers;
    std::memcpy(numbers.data(), from, count * sizeof numbers[0]);
    for (size_t i = 0; i < count; ++i) to[i] = static_cast<float>(numbers[i]);
    return;
  }
  std::array<uint16_t, kBlockOfNumbers> bits;
  std::memcpy(bits.data(), from, count * sizeof bits[0]);
  if (type == DType::kHalf) {
    for (size_t i = 0; i < count; ++i) to[i] = half_value(bits[i]);
  } else {
    for (size_t i = 0; i < count; ++i) to[i] = bfloat16_value(bits[i]);
  }
}

void from_floats(DType type, const float* from, char* to, size_t count) {
  if (type == DType::kFloat) {
    std::memcpy(to, from, count * sizeof *from);
    return;
  }
  if (type == DType::kDouble) {
    std::array<double, kBlockOfNumbers> numbers;
    for (size_t i = 0; i < count; ++i) numbers[i] = static_cast<double>(from[i]);
    std::memcpy(to, numbers.data(), count * sizeof numbers[0]);
    return;
  }
  std::array<uint16_t, kBlockOfNumbers> bits;
  if (type == DType::kHalf) {
    for (size_t i = 0; i < count; ++i) bits[i] = half_bits(from[i]);
  } else {
    for (size_t i = 0; i < count; ++i) bits[i] = bfloat16_bits(from[i]);
  }
  std::memcpy(to, bits.data(), count * sizeof bits[0]);
}

template <typename Bits>
uint64_t count_bits(std::string_view bytes, Bits infinity) {
  constexpr Bits kMagnitude = static_cast<Bits>(~Bits{0} >> 1);
  uint64_t count = 0;
  for (size_t at = 0; at + sizeof(Bits) <= bytes.size(); at += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, bytes.data() + at, sizeof bits);
    count += (bits & kMagnitude) == infinity ? 1 : 0;
  }
  return count;
}

}  // namespace

uint64_t count_infinite(DType type, std::string_view bytes) {
  if (type == DType::kHalf) return count_bits<uint16_t>(bytes, 0x7c00);
  if (type == DType::kBfloat16) return count_bits<uint16_t>(bytes, 0x7f80);
  if (type == DType::kFloat) return count_bits<uint32_t>(bytes, 0x7f800000U);
  return count_bits<uint64_t>(bytes, uint64_t{0x7ff} << 52);
}

bool is_floating(DType type) {
  return type == DType::kHalf || type == DType::kBfloat16 || type == DType::kFloat || type == DType::kDouble;
}

void cast_elements(const Casting& casting, const char* from, char* to, size_t elements) {
  std::array<float, kBlockOfNumbers> floats;
  while (elements > 0) {
    const size_t count = std::min(elements, kBlockOfNumbers);
    as_floats(casting.from, from, floats.data(), count);
    from_floats(casting.to, floats.data(), to, count);
    from += count * dtype_width(casting.from);
    to += count * dtype_width(casting.to);
    elements -= count;
  }
}

}  // namespace gedit
