// The values of a TensorProto, as a data file holds them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "graph/dtype.h"

namespace gedit {

// Row-major and little-endian; strings and variants with their lengths and checksums. Where the lists hold
// fewer than `elements`, the last one repeats, and where they hold none it is zero: `exactly` refuses that.
// Throws Error (kInput), Malformed.
std::string tensor_proto_values(std::string_view proto, DType dtype, uint64_t elements, bool exactly);

}  // namespace gedit
