#include "graph/tensor_layout.h"

namespace gedit {

TensorLayout tensor_layout(DType type) {
  switch (static_cast<int32_t>(type)) {
    case 1:
      return {Element::kFloat32, 5, 4};
    case 2:
      return {Element::kFloat64, 6, 8};
    case 3:   // int32
    case 13:  // qint32
      return {Element::kInt, 7, 4};
    case 4:   // uint8
    case 12:  // quint8
    case 30:  // uint4
    case 32:  // uint2
      return {Element::kUint, 7, 1};
    case 5:   // int16
    case 15:  // qint16
      return {Element::kInt, 7, 2};
    case 6:   // int8
    case 11:  // qint8
    case 29:  // int4
    case 31:  // int2
      return {Element::kInt, 7, 1};
    case 16:  // quint16
    case 17:  // uint16
      return {Element::kUint, 7, 2};
    case 7:
      return {Element::kString, TensorLayout::kStringField, 0};
    case 8:
      return {Element::kFloat32, 9, 4};
    case 9:
      return {Element::kInt, 10, 8};
    case 10:
      return {Element::kBool, 11, 1};
    case 18:
      return {Element::kFloat64, 12, 8};
    case 14:
      return {Element::kBfloat16, TensorLayout::kHalfField, 2};
    case 19:
      return {Element::kHalf, TensorLayout::kHalfField, 2};
    case 22:
      return {Element::kUint, 16, 4};
    case 23:
      return {Element::kUint, 17, 8};
    case 24:
    case 25:
    case 26:
    case 27:
    case 28:
      return {Element::kNone, TensorLayout::kFloat8Field, 1};
    default:
      return {};
  }
}

Wire tensor_wire(uint32_t field) {
  if (field == 5 || field == 9) return Wire::kFixed32;
  if (field == 6 || field == 12) return Wire::kFixed64;
  if (field == TensorLayout::kStringField || field == TensorLayout::kFloat8Field) return Wire::kBytes;
  return Wire::kVarint;
}

std::string scalar_proto(DType type, int64_t number) {
  constexpr uint32_t kType = 1, kShape = 2;
  std::string proto, packed;
  append_varint(packed, static_cast<uint64_t>(number));
  append_varint_field(proto, kType, static_cast<uint64_t>(type));
  append_bytes_field(proto, kShape, "");
  append_bytes_field(proto, tensor_layout(type).field, packed);
  return proto;
}

}  // namespace gedit
