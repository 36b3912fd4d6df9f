// Where TensorProto keeps the elements of each type, and how (tensorflow/core/framework/tensor.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/wire.h"
#include "graph/dtype.h"

namespace gedit {

// How an element is written in a listing.
enum class Element : uint8_t {
  kNone,  // not as a number or string
  kFloat32,
  kFloat64,
  kHalf,
  kBfloat16,
  kInt,   // signed, of the type's width
  kUint,  // unsigned, of the type's width
  kBool,
  kString,
};

// Complex numbers are two elements, real and imaginary part.
struct TensorLayout {
  static constexpr uint32_t kStringField = 8;
  static constexpr uint32_t kHalfField = 13;
  static constexpr uint32_t kFloat8Field = 18;

  Element element = Element::kNone;
  uint32_t field = 0;  // the *_val field of the type, 0: none that is known
  size_t width = 0;    // bytes of an element in tensor_content, 0: does not lie there
};

TensorLayout tensor_layout(DType type);

// How the numbers of a *_val field lie on the wire, packed or not.
Wire tensor_wire(uint32_t field);

// A TensorProto of no dimension: of a bool or an integer.
std::string scalar_proto(DType type, int64_t number);

}  // namespace gedit
