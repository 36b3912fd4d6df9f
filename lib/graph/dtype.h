// TensorFlow's DataType numbers: their words, their Python names and their widths
// (tensorflow/core/framework/types.proto).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gedit {

// A DataType as the enum's number; 100 more than the base type for a reference. Numbers that nobody knows are
// kept.
enum class DType : int32_t {
  kInvalid = 0,
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kComplex64 = 8,
  kInt64 = 9,
  kBool = 10,
  kQint8 = 11,
  kQuint8 = 12,
  kQint32 = 13,
  kBfloat16 = 14,
  kQint16 = 15,
  kQuint16 = 16,
  kUint16 = 17,
  kComplex128 = 18,
  kHalf = 19,
  kResource = 20,
  kVariant = 21,
  kUint32 = 22,
  kUint64 = 23,
};

constexpr bool is_reference(DType type) { return static_cast<int32_t>(type) > 100; }
constexpr DType base_type(DType type) {
  return is_reference(type) ? static_cast<DType>(static_cast<int32_t>(type) - 100) : type;
}
constexpr DType reference_to(DType type) {
  return is_reference(type) ? type : static_cast<DType>(static_cast<int32_t>(type) + 100);
}

std::string dtype_word(DType type);  // DT_FLOAT, DT_FLOAT_REF, DT_130 for an unknown number
std::string dtype_name(DType type);  // float32, float32_ref: what Python prints
std::optional<DType> parse_dtype(std::string_view text);  // either form

// Bytes of an element in tensor_content and in checkpoints; 0 for string, resource, variant and unknown
// types.
size_t dtype_width(DType type);

}  // namespace gedit
