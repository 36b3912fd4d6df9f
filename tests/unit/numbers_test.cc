#include "graph/numbers.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <random>

namespace gedit::numbers_test {

// What std::to_chars makes of it, and a point where it left that out.
template <typename Number>
std::string expected(Number value) {
  std::array<char, 64> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  std::string text(buffer.data(), result.ptr);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string printed(float value) {
  std::string out;
  print_float32(out, std::bit_cast<uint32_t>(value));
  return out;
}

std::string printed(double value) {
  std::string out;
  print_float64(out, std::bit_cast<uint64_t>(value));
  return out;
}

TEST(Numbers, PowersOfTenAndTheirNeighbours) {
  for (int exponent = -320; exponent <= 308; ++exponent) {
    for (const double factor : {1.0, 1.5, 9.0, 1.2345678901234567, 123456.0, -7.25}) {
      const double value = factor * std::pow(10.0, exponent);
      for (const double near : {value, std::nextafter(value, 0.0), std::nextafter(value, HUGE_VAL)}) {
        ASSERT_EQ(expected(near), printed(near));
        ASSERT_EQ(expected(static_cast<float>(near)), printed(static_cast<float>(near)));
      }
    }
  }
  ASSERT_EQ("0.0", printed(0.0));
  ASSERT_EQ("-0.0", printed(-0.0));
}

TEST(Numbers, AnyBits) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200000; ++i) {
    const uint64_t bits = random();
    const auto wide = std::bit_cast<double>(bits);
    const auto narrow = std::bit_cast<float>(static_cast<uint32_t>(bits));
    const double whole = std::ldexp(static_cast<double>(bits >> 11), static_cast<int>(bits % 20) - 8);
    if (!std::isnan(wide)) {
      ASSERT_EQ(expected(wide), printed(wide));
    }
    if (!std::isnan(narrow)) {
      ASSERT_EQ(expected(narrow), printed(narrow));
    }
    ASSERT_EQ(expected(whole), printed(whole));
  }
}

}  // namespace gedit::numbers_test
