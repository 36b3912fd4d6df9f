// numpy's .npy format: a header in Python's words, then the elements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dtype.h"
#include "weights/weights.h"

namespace gedit {

constexpr size_t kMostNpyHeader = size_t{1} << 20;  // bytes that are read of a header

bool looks_like_npy(std::string_view bytes);

struct NpyHeader {
  DType dtype = DType::kInvalid;
  std::string foreign = {};  // the type's text where it is none of TensorFlow's numbers; then `size` is 0
  bool big_endian = false;
  bool fortran_order = false;  // the first dimension runs fastest
  std::vector<int64_t> shape;
  uint64_t length = 0;  // bytes before the elements
  uint64_t size = 0;    // bytes of the elements
};

// Of the first bytes of a file, kMostNpyHeader or all of them. Versions 1 to 3. Throws Error (kInput): no
// .npy, damaged.
NpyHeader parse_npy_header(std::string_view bytes);

// Whether the array is no number, and left out: with `skip` that is noted in the warnings. Throws Error
// (kInput) without.
bool leaves_out(const NpyHeader& header, const std::string& name, bool skip, Weights& weights);

// The elements, which lie at `offset`, row-major and little-endian.
ValuesPtr npy_values(const NpyHeader& header, ValuesPtr stored);

// Magic, version 1.0 and a header that ends at a multiple of 64. Throws Error (kRefused) for a type that
// numpy does not have.
std::string npy_header(DType dtype, const std::vector<int64_t>& shape);

}  // namespace gedit
