// Small constants as numbers, read and made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dtype.h"

namespace gedit::optimizing {

// A Const of which all elements are one number.
struct Splat {
  DType dtype = DType::kInvalid;
  std::vector<int64_t> shape;
  double number = 0;  // of floats; integers and bools as far as a double holds them
  bool negative_zero = false;
};
std::optional<Splat> splat_of(std::string_view const_def);

// A TensorProto of one int32.
std::string int32_scalar(int32_t number);
// A Const's AttrValue `value`.
std::string tensor_value(std::string_view tensor_proto);

}  // namespace gedit::optimizing
