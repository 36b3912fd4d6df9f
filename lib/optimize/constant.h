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
std::optional<Splat> splat_of_tensor(std::string_view tensor_proto);

// Why TensorFlow makes no tensor of a TensorProto, or not all of what it lists: in a few words; empty where
// it does.
std::string fault_of_value(std::string_view tensor_proto);

// The TensorProto that it holds.
std::string_view tensor_of(std::string_view const_def);

// What the rules ask of every Const.
struct ConstFacts {
  bool scalar : 1 = false;       // has no dimensions
  bool truth_known : 1 = false;  // a scalar bool
  bool truth : 1 = false;
  bool ones : 1 = false;   // all elements are that
  bool zeros : 1 = false;  // +0
  bool negative_zeros : 1 = false;
};
ConstFacts const_facts(std::string_view const_def);

}  // namespace gedit::optimizing
