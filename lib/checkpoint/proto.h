// The small messages inside a checkpoint's entries, read from and written to bytes: shapes and slices.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/wire.h"
#include "checkpoint/slice_key.h"

namespace gedit {

uint32_t fixed32(const Field& field);

// TensorShapeProto. Throws Error (kInput) for an unknown rank or more than 254 dimensions.
std::vector<int64_t> entry_shape(std::string_view message);
std::string shape_bytes(const std::vector<int64_t>& shape);

// TensorSliceProto.
Extents parse_slice(std::string_view message);
std::string slice_bytes(const Extents& extents);

}  // namespace gedit
