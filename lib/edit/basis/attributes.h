// Attribute values that users write, held against what the op says of the attribute.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "ops/registry.h"

namespace gedit {

// The AttrValue that `text` is in the listing's form: `DT_HALF`, `list(1,2,2,1)`, `"SAME"`, `[?,3]`, `0.5`.
// Throws Error (kUsage).
std::string parse_attr_text(std::string_view text);

// Throws Error (kRefused) where the value is not of the attribute's type, or not among the values that it
// allows: `attribute 'strides' is list(int), "SAME" is a string`. A placeholder, inside a function, fits all.
void check_attr_value(const AttrDef& attr, std::string_view value);

// `no attribute 'strides' in op Relu`, with the nearest one.
Error no_such_attr(const OpDef& op, std::string_view name);

}  // namespace gedit
