#include "checkpoint/proto.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace gedit {

uint32_t fixed32(const Field& field) {
  uint32_t value = 0;
  std::memcpy(&value, field.value.data(), sizeof value);
  return value;
}

std::vector<int64_t> entry_shape(std::string_view message) {
  constexpr size_t kUsualDimension = 4;  // bytes
  std::vector<int64_t> shape;
  shape.reserve(std::min(message.size() / kUsualDimension, size_t{kMostDimensions}));
  for (Fields fields(message); fields.next();) {
    if (fields->number == 3 && fields->wire == Wire::kVarint && fields->varint != 0) {
      throw Error(Cause::kInput, "shape is of unknown rank");
    }
    if (!fields->bytes(2)) continue;
    if (shape.size() == kMostDimensions) {
      throw Error(Cause::kInput, "shape has more than " + std::to_string(kMostDimensions) + " dimensions");
    }
    shape.push_back(static_cast<int64_t>(last_varint(fields->value, 1)));
  }
  return shape;
}

std::string shape_bytes(const std::vector<int64_t>& shape) {
  std::string out;
  for (const int64_t size : shape) {
    std::string dim;
    if (size != 0) append_varint_field(dim, 1, static_cast<uint64_t>(size));
    append_bytes_field(out, 2, dim);
  }
  return out;
}

Extents parse_slice(std::string_view message) {
  Extents extents;
  for (Fields fields(message); fields.next();) {
    if (!fields->bytes(1)) continue;
    if (extents.size() == kMostDimensions) {
      throw Error(Cause::kInput, "slice has more than " + std::to_string(kMostDimensions) + " dimensions");
    }
    Extent extent;
    for (Fields parts(fields->value); parts.next();) {
      if (parts->wire != Wire::kVarint) continue;
      if (parts->number == 1) extent.start = static_cast<int64_t>(parts->varint);
      if (parts->number == 2) extent.length = static_cast<int64_t>(parts->varint);
    }
    extents.push_back(extent);
  }
  return extents;
}

std::string slice_bytes(const Extents& extents) {
  std::string out;
  for (const Extent& extent : extents) {
    std::string part;
    if (extent.start != 0) append_varint_field(part, 1, static_cast<uint64_t>(extent.start));
    if (extent.length >= 0) append_varint_field(part, 2, static_cast<uint64_t>(extent.length));
    append_bytes_field(out, 1, part);
  }
  return out;
}

}  // namespace gedit
