// Work on several cores: everything once, in order where that is promised, and the first error in order.
#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace gedit::parallel_test {

TEST(Parallel, EachPieceIsWorkedOnOnce) {
  for (const size_t count : {size_t{0}, size_t{1}, size_t{7}, size_t{1000}}) {
    std::vector<std::atomic<int>> times(count);
    in_parallel(count, [&](size_t i) { ++times[i]; });
    for (const auto& time : times) EXPECT_EQ(time, 1);
  }
}

TEST(Parallel, TheFirstErrorInOrderIsThrown) {
  for (int round = 0; round < 50; ++round) {
    std::vector<std::atomic<int>> times(200);
    try {
      in_parallel(times.size(), [&](size_t i) {
        ++times[i];
        if (i % 10 == 7) throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "nothing thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "7");
    }
    for (size_t i = 0; i <= 7; ++i) EXPECT_EQ(times[i], 1);
  }
}

TEST(Parallel, WhatPiecesGiveIsInOrder) {
  for (const size_t count : {size_t{0}, size_t{1}, size_t{10}, size_t{1001}}) {
    const auto numbers = [](PieceRange range) {
      std::vector<uint32_t> numbers;
      for (uint32_t i = range.begin; i < range.end; ++i) numbers.push_back(i);
      return numbers;
    };
    std::vector<uint32_t> all, expected;
    const auto made = made_in_pieces(count, numbers, 10);
    EXPECT_EQ(made.size(), (count + 9) / 10);
    for (const auto& piece : made) all.insert(all.end(), piece.begin(), piece.end());
    for (uint32_t i = 0; i < count; ++i) expected.push_back(i);
    EXPECT_EQ(all, expected);
    EXPECT_EQ(found_in_pieces(count, numbers, 10), expected);
  }
}

TEST(Parallel, PlacesShareNoLineOfTheCache) {
  Places<char> places(3);
  const auto line = [&](size_t place) { return reinterpret_cast<uintptr_t>(&places[place]) / 64; };
  EXPECT_LT(line(0), line(1));
  EXPECT_LT(line(1), line(2));
}

TEST(Parallel, TextsAreUsedInOrder) {
  std::string all, expected;
  pieces_in_order(
      500, [](size_t i, std::string& text) { text += std::to_string(i) + " "; },
      [&](std::string_view text) { all += text; });
  for (size_t i = 0; i < 500; ++i) expected += std::to_string(i) + " ";
  EXPECT_EQ(all, expected);
}

TEST(Parallel, WhatComesBeforeAnErrorIsUsed) {
  for (int round = 0; round < 50; ++round) {
    std::string all;
    const auto make = [](size_t i, std::string& text) {
      if (i == 5 || i == 6) throw std::runtime_error(std::to_string(i));
      text += std::to_string(i);
    };
    try {
      pieces_in_order(100, make, [&](std::string_view text) { all += text; });
      FAIL() << "nothing thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "5");
    }
    EXPECT_EQ(all, "01234");
  }
}

TEST(Parallel, AnErrorOfWhoUsesEndsIt) {
  const auto use = [](std::string_view text) {
    if (text == "3") throw std::runtime_error("full");
  };
  EXPECT_THROW(pieces_in_order(
                   1000, [](size_t i, std::string& text) { text = std::to_string(i); }, use),
               std::runtime_error);
}

}  // namespace gedit::parallel_test
