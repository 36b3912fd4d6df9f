#include "checkpoint/tensor_proto.h"

#include <cstring>
#include <vector>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/wire.h"
#include "checkpoint/values.h"

namespace gedit {
namespace {

constexpr uint64_t kMostFilled = uint64_t{1} << 31;  // bytes that a list may be filled up to

enum class As : uint8_t { kFixed, kVarint, kBool };

// Which list of a TensorProto holds a type, and how (tensorflow/core/framework/tensor.proto).
struct List {
  uint32_t field = 0;
  As as = As::kFixed;
  size_t width = 0;  // of a number in memory; kFixed: in the message too
};

List list_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
      return {5, As::kFixed, 4};
    case DType::kDouble:
      return {6, As::kFixed, 8};
    case DType::kInt32:
    case DType::kQint32:
      return {7, As::kVarint, 4};
    case DType::kInt16:
    case DType::kUint16:
    case DType::kQint16:
    case DType::kQuint16:
      return {7, As::kVarint, 2};
    case DType::kInt8:
    case DType::kUint8:
    case DType::kQint8:
    case DType::kQuint8:
      return {7, As::kVarint, 1};
    case DType::kComplex64:
      return {9, As::kFixed, 4};
    case DType::kInt64:
      return {10, As::kVarint, 8};
    case DType::kBool:
      return {11, As::kBool, 1};
    case DType::kComplex128:
      return {12, As::kFixed, 8};
    case DType::kHalf:
    case DType::kBfloat16:
      return {13, As::kVarint, 2};
    case DType::kUint32:
      return {16, As::kVarint, 4};
    case DType::kUint64:
      return {17, As::kVarint, 8};
    default:
      return {};
  }
}

std::string numbers(std::string_view proto, const List& list) {
  std::string out;
  for (Fields fields(proto); fields.next();) {
    const Field& field = fields.field();
    if (field.number != list.field || list.field == 0) continue;
    if (list.as == As::kFixed) {
      out += field.value;  // packed or not, the same little-endian bytes
      continue;
    }
    each_varint(field, [&](uint64_t value) {
      if (list.as == As::kBool) value = value != 0 ? 1 : 0;
      out.append(reinterpret_cast<const char*>(&value), list.width);
    });
  }
  return out;
}

Error another_number(uint64_t have, uint64_t want) {
  return {Cause::kInput,
          "holds " + std::to_string(have) + " elements, its shape has " + std::to_string(want)};
}

std::vector<std::string_view> records(std::string_view proto, uint32_t number) {
  std::vector<std::string_view> found;
  for (Fields fields(proto); fields.next();) {
    if (fields->bytes(number)) found.push_back(fields->value);
  }
  return found;
}

std::string variant_bytes(const std::vector<std::string_view>& variants) {
  std::string out;
  uint32_t crc = 0;
  for (const std::string_view variant : variants) {
    const uint64_t length = variant.size();
    append_varint(out, length);
    crc = crc32c(crc, {reinterpret_cast<const char*>(&length), sizeof length});
    crc = crc32c(crc, variant);
    out += variant;
    const uint32_t stored = masked(crc);
    const std::string_view check(reinterpret_cast<const char*>(&stored), sizeof stored);
    crc = crc32c(crc, check);
    out += check;
  }
  return out;
}

}  // namespace

std::string tensor_proto_values(std::string_view proto, DType dtype, uint64_t elements, bool exactly) {
  if (dtype == DType::kString || dtype == DType::kVariant) {
    std::vector<std::string_view> parts = records(proto, dtype == DType::kString ? 8 : 15);
    if (parts.size() > elements || (exactly && parts.size() != elements))
      throw another_number(parts.size(), elements);
    if (parts.size() < elements) {
      if (elements > kMostFilled / sizeof(std::string_view))
        throw Error(Cause::kInput, "has too many elements");
      parts.resize(elements, parts.empty() ? std::string_view() : parts.back());
    }
    return dtype == DType::kString ? string_bytes(parts) : variant_bytes(parts);
  }
  const size_t width = dtype_width(dtype);
  if (width == 0) throw Error(Cause::kInput, "a checkpoint holds no " + dtype_name(dtype));
  if (const std::string_view content = last_bytes(proto, 4); !content.empty()) {
    if (content.size() / width != elements || content.size() % width != 0) {
      throw another_number(content.size() / width, elements);
    }
    return std::string(content);
  }
  std::string bytes = numbers(proto, list_of(dtype));
  if (dtype_width(dtype) == 1 && list_of(dtype).field == 0) bytes = last_bytes(proto, 18);  // 8-bit floats
  if (bytes.size() % width != 0 || bytes.size() / width > elements ||
      (exactly && bytes.size() / width != elements)) {
    throw another_number(bytes.size() / width, elements);
  }
  if (bytes.size() / width == elements) return bytes;
  if (elements > kMostFilled / width) throw Error(Cause::kInput, "has too many elements");
  const std::string last = bytes.empty() ? std::string(width, '\0') : bytes.substr(bytes.size() - width);
  while (bytes.size() / width < elements) bytes += last;
  return bytes;
}

}  // namespace gedit
