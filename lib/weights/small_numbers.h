// Types of 8 bits and fewer but whole bytes, one number a byte: floats of 8 and 4 bits, integers of 4 and 2.
#pragma once

#include <array>

#include "graph/dtype.h"

namespace gedit {

constexpr DType kFloat8E5m2{24}, kFloat8E4m3fn{25}, kFloat8E4m3fnuz{26}, kFloat8E4m3b11fnuz{27},
    kFloat8E5m2fnuz{28}, kInt4{29}, kUint4{30}, kInt2{31}, kUint2{32}, kFloat4E2m1fn{33};

constexpr bool is_small_float(DType type) {
  return (type >= kFloat8E5m2 && type <= kFloat8E5m2fnuz) || type == kFloat4E2m1fn;
}

// The number that each byte is; null for other types.
const std::array<float, 256>* small_numbers(DType type);

}  // namespace gedit
