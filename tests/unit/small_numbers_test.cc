// Each byte of the types of 8 bits and fewer is the number that its definition says.
#include "weights/small_numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "weights/casting.h"

namespace gedit::small_numbers_test {

float number(DType type, int byte) { return small_numbers(type)->at(static_cast<size_t>(byte)); }

// (-1)^s 2^(e - bias) 1.f, 2^(1 - bias) 0.f where e is 0: of all bytes that are finite.
void expect_finite(DType type, int fraction_bits, int bias, int first_other) {
  for (int byte = 0; byte < 256; ++byte) {
    const int magnitude = byte & 127, exponent = magnitude >> fraction_bits;
    if (magnitude >= first_other) continue;
    const double fraction = std::ldexp(magnitude - (exponent << fraction_bits), -fraction_bits);
    const double size =
        exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
    const float got = number(type, byte);
    if (byte == 128 && first_other == 128) {
      EXPECT_EQ(std::isnan(got), type != kFloat8E4m3fn && type != kFloat8E5m2);
      continue;
    }
    EXPECT_EQ(got, byte < 128 ? size : -size) << dtype_name(type) << " " << byte;
    EXPECT_EQ(std::signbit(got), byte >= 128) << dtype_name(type) << " " << byte;
  }
}

TEST(SmallNumbers, FloatsOfEightBits) {
  expect_finite(kFloat8E5m2, 2, 15, 0x7c);
  expect_finite(kFloat8E4m3fn, 3, 7, 0x7f);
  expect_finite(kFloat8E4m3fnuz, 3, 8, 128);
  expect_finite(kFloat8E4m3b11fnuz, 3, 11, 128);
  expect_finite(kFloat8E5m2fnuz, 2, 16, 128);
  EXPECT_EQ(number(kFloat8E5m2, 0xfc), -INFINITY);
  for (const int byte : {0x7d, 0x7e, 0x7f, 0xfd, 0xfe, 0xff})
    EXPECT_TRUE(std::isnan(number(kFloat8E5m2, byte))) << byte;
  EXPECT_TRUE(std::isnan(number(kFloat8E4m3fn, 0x7f)));
  EXPECT_TRUE(std::isnan(number(kFloat8E4m3fn, 0xff)));
  EXPECT_EQ(number(kFloat8E4m3fn, 0x7e), 448);
  EXPECT_EQ(number(kFloat8E4m3b11fnuz, 0x7f), 30);
}

TEST(SmallNumbers, OfFewerBits) {
  for (int byte = 0; byte < 256; ++byte) {
    EXPECT_EQ(number(kUint4, byte), byte % 16);
    EXPECT_EQ(number(kInt4, byte), (byte + 8) % 16 - 8);
    EXPECT_EQ(number(kUint2, byte), byte % 4);
    EXPECT_EQ(number(kInt2, byte), (byte + 2) % 4 - 2);
  }
  const std::vector<float> positive{0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (int byte = 0; byte < 8; ++byte) {
    EXPECT_EQ(number(kFloat4E2m1fn, byte), positive[static_cast<size_t>(byte)]);
    EXPECT_EQ(number(kFloat4E2m1fn, byte + 8), -positive[static_cast<size_t>(byte)]);
  }
  EXPECT_EQ(small_numbers(DType::kUint8), nullptr);
}

}  // namespace gedit::small_numbers_test
