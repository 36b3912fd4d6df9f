// Whether two nodes or two functions say the same, however they are laid out.
#pragma once

#include <string_view>

namespace gedit {

// AttrValues: equal bytes, or function names and their attributes equal in any order.
bool same_attr_value(std::string_view a, std::string_view b);

// The attributes of two NodeDefs, in any order. `internal`: those whose key begins with `_`, too.
bool same_attrs(std::string_view a, std::string_view b, bool internal = true);

// FunctionDefs, as TensorFlow compares them when a library is imported (core/framework/function.cc,
// FunctionDefsEqual): signature, attributes, nodes by name in any order and without their internal
// attributes, what is returned.
bool same_function(std::string_view a, std::string_view b);

}  // namespace gedit
