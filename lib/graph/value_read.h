// A read of a variable by its handle, as a read of the value that the handle leads to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "graph/dtype.h"

namespace gedit {

struct ValueRead {
  std::string node_def;           // inputs as before
  std::optional<int64_t> axis{};  // wants an int32 of it as its third input
};

// The node that gives for a value of `dtype` what this one gives for its handle; nothing where that is no
// node: it asks about the variable, or is no read.
std::optional<ValueRead> value_read(std::string_view node_def, DType dtype);

}  // namespace gedit
