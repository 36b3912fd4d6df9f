// What a call says of its arguments and results, while some of these become values where they were handles.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "edit/functions/handle_flow.h"

namespace gedit {

// `node_def` with the variables' types in the list(type) attribute `key`, whose first entry is that of number
// `first`; by number.
std::string with_types(std::string_view node_def, std::string_view key,
                       const std::map<uint32_t, Carried>& carried, uint32_t first);

// AttrValue list(shape) with the shapes of these entries.
std::string with_shapes(std::string_view attr_value, const std::map<uint32_t, Carried>& shapes);

// AttrValue list(int) of inputs without these.
std::string without_inputs(std::string_view attr_value, const std::map<uint32_t, Carried>& gone);

// The functions that an AttrValue names at its top: one, or a list of them.
std::vector<std::string_view> functions_in(std::string_view attr_value);
// The same AttrValue with other names for them, in their order.
std::string with_functions(std::string_view attr_value, const std::vector<std::string>& names);

// The same call of another function: by attribute `f`, or by its op, as TensorFlow called functions once.
std::string calling(std::string_view node_def, std::string_view function);
// The same call of other arguments; their types are told where the call tells them.
std::string with_arguments(std::string_view node_def, const std::vector<std::string>& inputs,
                           const std::vector<DType>& types);

}  // namespace gedit
