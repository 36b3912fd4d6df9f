// numpy's .npy format: a header in Python's words, then the elements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dtype.h"
#include "weights/values.h"

namespace gedit {

constexpr size_t kMostNpyHeader = size_t{1} << 20;  // bytes that are read of a header

bool looks_like_npy(std::string_view bytes);

struct NpyHeader {
  DType dtype = DType::kInvalid;
  bool big_endian = false;
  bool fortran_order = false;  // the first dimension runs fastest
  std::vector<int64_t> shape;
  uint64_t length = 0;  // bytes before the elements
  uint64_t size = 0;    // bytes of the elements
};

// Of the first bytes of a file, kMostNpyHeader or all of them. Versions 1 to 3. Throws Error (kInput): no
// .npy, damaged, a type that TensorFlow does not have.
NpyHeader parse_npy_header(std::string_view bytes);

// The elements, which lie at `offset`, row-major and little-endian.
ValuesPtr npy_values(const NpyHeader& header, ValuesPtr stored);

// Magic, version 1.0 and a header that ends at a multiple of 64. Throws Error (kRefused) for a type that
// numpy does not have.
std::string npy_header(DType dtype, const std::vector<int64_t>& shape);

}  // namespace gedit
