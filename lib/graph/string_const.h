// Const nodes of DT_STRING: the keys and slices of a saver, the path of an asset, a checkpoint's object
// graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gedit {

// The strings of a Const node of DT_STRING: what string_val holds, the last one repeated up to the shape's
// size, and of them the first `most`. Nothing where the node is no such Const.
std::optional<std::vector<std::string>> string_const(std::string_view node_def, size_t most = SIZE_MAX);
// The AttrValue `value` of a Const of these strings: a vector, or the scalar of the only one.
std::string strings_value(const std::vector<std::string>& strings, bool scalar = false);
// A Const like `node_def` that holds these strings: as a vector, one string in place of a scalar as a scalar.
std::string with_strings(std::string_view node_def, const std::vector<std::string>& strings);

}  // namespace gedit
