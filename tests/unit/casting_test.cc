// Numbers cast as TensorFlow 2.21 casts them, and what is told of it. Bits are those that it gave on x86.
#include "weights/casting.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "weights/small_numbers.h"

namespace gedit::casting_test {

template <typename To, typename From>
std::vector<To> cast(DType from, DType to, const std::vector<From>& numbers, uint64_t overflows = 0) {
  std::vector<To> out(numbers.size());
  EXPECT_EQ(cast_elements({from, to}, reinterpret_cast<const char*>(numbers.data()),
                          reinterpret_cast<char*>(out.data()), numbers.size()),
            overflows);
  return out;
}

TEST(Casting, Nans) {
  using enum DType;
  using Bits16 = std::vector<uint16_t>;
  using Bits32 = std::vector<uint32_t>;
  using Bits64 = std::vector<uint64_t>;
  const Bits32 floats{0xffc11e85, 0x7f802000, 0x7f800001, 0xff800001, 0x7fffffff, 0xffbfffff};
  EXPECT_EQ(cast<uint16_t>(kFloat, kHalf, floats), (Bits16{0xfe08, 0x7e01, 0x7e00, 0xfe00, 0x7fff, 0xffff}));
  EXPECT_EQ(cast<uint16_t>(kFloat, kBfloat16, floats), Bits16(6, 0x7fc0));
  const Bits16 halves{0x7c01, 0xfc01, 0x7e00, 0xfe01, 0x7d55};
  EXPECT_EQ(cast<uint32_t>(kHalf, kFloat, halves),
            (Bits32{0x7fc02000, 0xffc02000, 0x7fc00000, 0xffc02000, 0x7feaa000}));
  EXPECT_EQ(cast<uint16_t>(kHalf, kBfloat16, halves), (Bits16{0x7fc0, 0xffc0, 0x7fc0, 0xffc0, 0x7fc0}));
  const Bits16 bfloats{0x7f81, 0xff81, 0x7fc0, 0x7fff};
  EXPECT_EQ(cast<uint16_t>(kBfloat16, kHalf, bfloats), (Bits16{0x7e08, 0xfe08, 0x7e00, 0x7ff8}));
  EXPECT_EQ(cast<uint32_t>(kBfloat16, kFloat, bfloats),
            (Bits32{0x7f810000, 0xff810000, 0x7fc00000, 0x7fff0000}));
  const Bits64 doubles{0x7ff0000000000001, 0xfff8000012345678, 0x7ff4000000000000, 0xfff7ffffffffffff};
  EXPECT_EQ(cast<uint32_t>(kDouble, kFloat, doubles),
            (Bits32{0x7fc00000, 0xffc00000, 0x7fe00000, 0xffffffff}));
  EXPECT_EQ(cast<uint16_t>(kDouble, kHalf, doubles), (Bits16{0x7e00, 0xfe00, 0x7f00, 0xffff}));
  EXPECT_EQ(cast<uint16_t>(kDouble, kBfloat16, doubles), (Bits16{0x7fc0, 0xffc0, 0x7fc0, 0xffc0}));
}

// Over several blocks, and where all of a block do.
TEST(Casting, CountsWhatBecomesInfinite) {
  using enum DType;
  std::vector<float> numbers(5000, -1e38F);
  numbers[0] = -INFINITY;
  numbers[1] = 1;
  numbers[4999] = 3.4e38F;
  cast<uint16_t>(kFloat, kHalf, numbers, 4998);
  cast<uint16_t>(kFloat, kBfloat16, numbers, 1);
  cast<double>(kFloat, kDouble, numbers, 0);
  cast<uint16_t>(kFloat, kBfloat16, std::vector<float>{3.4e38F, -3.4028235e38F, INFINITY, NAN}, 2);
  cast<float>(kDouble, kFloat, std::vector<double>{-1e300, 1e300, INFINITY, NAN, 3.4e38}, 2);
  cast<uint16_t>(kBfloat16, kHalf, std::vector<uint16_t>{0xff00, 0x7f80, 0xff80, 0x7fc0, 0x3f80}, 1);
  cast<uint16_t>(kHalf, kBfloat16, std::vector<uint16_t>{0xfc00, 0x7bff}, 0);
}

// Each of them is a number of every type from 16 bits on.
TEST(Casting, OfEightBits) {
  using enum DType;
  std::vector<uint8_t> bytes(256);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
  for (const DType type :
       {kFloat8E5m2, kFloat8E4m3fn, kFloat8E4m3fnuz, kFloat8E4m3b11fnuz, kFloat8E5m2fnuz}) {
    const auto half = cast<uint16_t>(type, kHalf, bytes), brain = cast<uint16_t>(type, kBfloat16, bytes);
    const auto single = cast<float>(type, kFloat, bytes);
    const auto twice = cast<double>(type, kDouble, bytes);
    const auto from_half = cast<float>(kHalf, kFloat, half),
               from_brain = cast<float>(kBfloat16, kFloat, brain);
    for (size_t i = 0; i < bytes.size(); ++i) {
      const float number = (*small_numbers(type))[i];
      EXPECT_EQ(std::signbit(single[i]), std::signbit(number));
      if (std::isnan(number)) {
        EXPECT_EQ(half[i], std::signbit(number) ? 0xfe00 : 0x7e00);
        EXPECT_EQ(brain[i], std::signbit(number) ? 0xffc0 : 0x7fc0);
        EXPECT_TRUE(std::isnan(single[i]) && std::isnan(twice[i]));
        continue;
      }
      EXPECT_EQ(single[i], number);
      EXPECT_EQ(twice[i], number);
      EXPECT_EQ(from_half[i], number);
      EXPECT_EQ(from_brain[i], number);
    }
  }
}

}  // namespace gedit::casting_test
