// Slices of a tensor in a checkpoint: their keys, what a saver says of them, what they cover.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/slice_key.h"
#include "checkpoint/values.h"

namespace gedit::slices_test {

TEST(SliceKey, IsWhatTensorFlowWrites) {
  EXPECT_EQ(slice_key("w", {{0, 5}}), std::string("\x00w\x00\x01\x01\x01\x80\x85", 8));
  EXPECT_EQ(slice_key("a", {}), std::string("\x00"
                                            "a\x00\x01\x00",
                                            5));
  EXPECT_EQ(slice_key("w", {{0, -1}}).substr(6), "\x80\x7f");
}

TEST(SliceKey, ComesBack) {
  for (const int64_t number :
       {int64_t{0}, int64_t{63}, int64_t{64}, int64_t{-64}, int64_t{-65}, int64_t{8191}, int64_t{8192},
        int64_t{1} << 31, int64_t{1} << 55, INT64_MAX, INT64_MIN}) {
    const std::string name("x\0\xff/y", 5);
    const auto parsed = parse_slice_key(slice_key(name, {{number, -1}, {7, number}}));
    ASSERT_TRUE(parsed) << number;
    EXPECT_EQ(parsed->name, name);
    EXPECT_EQ(parsed->extents, (Extents{{number, -1}, {7, number}}));
  }
}

TEST(SliceKey, BrokenKeysAreNone) {
  const std::string key = slice_key("w", {{0, 300}, {100000, -1}});
  for (size_t i = 0; i < key.size(); ++i) EXPECT_FALSE(parse_slice_key(key.substr(0, i))) << i;
  EXPECT_FALSE(parse_slice_key(key + "x"));
}

TEST(SliceSpec, Reads) {
  const auto spec = parse_slice_spec("4 2 0,2:-");
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->shape, (std::vector<int64_t>{4, 2}));
  EXPECT_EQ(spec->extents, (Extents{{0, 2}, {0, -1}}));
  for (const char* wrong :
       {"", "4", "4 2", "4 2 0,2", "4 2 0,5:-", "4 2 0,2:-:-", "4 x 0,2:-", "4 2 -1,2:-"}) {
    EXPECT_FALSE(parse_slice_spec(wrong)) << wrong;
  }
}

TEST(Slices, CoverOnce) {
  const auto fault = [](const std::vector<Extents>& parts, const std::vector<int64_t>& shape) {
    std::vector<Slice> slices;
    for (const Extents& part : parts) slices.push_back({.extents = part, .place = {}, .record = {}});
    return slices_fault(slices, shape);
  };
  EXPECT_EQ(fault({{{0, 4}, {0, -1}}, {{4, 3}, {0, 4}}, {{7, 3}, {0, -1}}}, {10, 4}), "");
  EXPECT_EQ(fault({{{0, 1}, {0, 1}}, {{0, 1}, {1, 2}}, {{1, 2}, {0, 2}}, {{1, 1}, {2, 1}}, {{2, 1}, {2, 1}}},
                  {3, 3}),
            "");
  EXPECT_EQ(fault({{{0, 4}}, {{5, 5}}}, {10}), "slices leave a part uncovered");
  EXPECT_EQ(fault({{{0, 6}}, {{5, 5}}}, {10}), "slices overlap");
  EXPECT_EQ(fault({{{0, 5}}, {{4, 5}}}, {10}), "slices overlap and leave a part uncovered");
  EXPECT_EQ(fault({{{0, 11}}}, {10}), "slice 0,11 leaves the shape");
}

TEST(Slices, AreThereInPart) {
  const auto fit = [](const std::vector<Extents>& parts, const std::vector<int64_t>& shape) {
    std::vector<Slice> slices;
    for (const Extents& part : parts) slices.push_back({.extents = part, .place = {}, .record = {}});
    return slices_fit(slices, shape);
  };
  EXPECT_EQ(fit({{{0, 4}}, {{5, 5}}}, {10}).fault, "");
  EXPECT_FALSE(fit({{{0, 4}}, {{5, 5}}}, {10}).whole);
  EXPECT_TRUE(fit({{{0, 4}}, {{4, 6}}}, {10}).whole);
  EXPECT_FALSE(fit({{{0, 2}, {0, 2}}, {{1, 2}, {2, 2}}}, {4, 4}).whole);
  EXPECT_EQ(fit({{{0, 2}, {0, 2}}, {{1, 2}, {2, 2}}}, {4, 4}).fault, "");
  EXPECT_EQ(fit({{{0, 2}, {0, 2}}, {{1, 2}, {1, 2}}}, {4, 4}).fault,
            "slices overlap and leave a part uncovered");
  EXPECT_EQ(fit({{{1, 2}, {0, 1}}, {{0, 1}, {0, 3}}, {{2, 1}, {0, 2}}}, {4, 4}).fault,
            "slices overlap and leave a part uncovered");
}

}  // namespace gedit::slices_test
