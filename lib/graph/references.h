// The table of places in a NodeDef that hold a name, and what kind of name
// (docs/tensorflow.md#attributes-that-hold-names): whoever renames, copies, merges or checks asks here, none
// keeps a list of its own.
//
// Inputs, `_class` and functions follow the node or function that they name. The others identify something at
// run time and must be fresh in a copy that is to stand beside its original.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/wire.h"

namespace gedit {

enum class Role : uint8_t {
  kNone,  // no name, or one that stays: PyFunc's token, _gradient_op_type, tensor_array_name, summary tags
  kColocation,  // `_class`: a list of `loc:@node`
  kFrame,  // frame_name of Enter, RefEnter: one string for all Enters of a loop (common_runtime/executor.cc)
  kSharedName,  // shared_name, batching_queue: families of one string share one resource
  kPair,  // a string that two or more nodes agree on: var_name, stack_name, rendezvous and cluster names
  kInstanceKey,  // instance_key of Collective*: an int
};

// A resource with this shared_name is made anew at every execution (core/framework/resource_handle.h,
// ANONYMOUS_NAME).
constexpr std::string_view kAnonymousName = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";

// The role of attribute `key` of a node of type `op`.
Role attr_role(std::string_view op, std::string_view key);

// Whether a function can be named in an AttrValue: the first byte tells (func or list), since a value holds
// one field.
inline bool may_name_function(std::string_view attr_value) {
  return !attr_value.empty() && (attr_value[0] == (10 << 3 | 2) || attr_value[0] == (1 << 3 | 2));
}

// Deepest nesting of attribute values that is followed; TensorFlow's own reader stops at 100 as well.
constexpr int kDeepest = 100;

// Calls use(name) for every function that `attr_value` names: func, list(func), and the attributes inside
// those. Throws Malformed past kDeepest.
template <typename Use>
void each_function(std::string_view attr_value, Use use, int depth = 0);

// ---------------------------------------------------------------------------------------------------------------------

template <typename Use>
void each_function(std::string_view attr_value, Use use, int depth) {
  if (depth > kDeepest) throw Malformed(attr_value.data(), "attribute values nest too deep");
  const auto name_and_attrs = [&](std::string_view func) {
    for (Fields fields(func); fields.next();) {
      if (fields->bytes(1)) use(fields->value);
      if (fields->bytes(2)) each_function(map_entry(fields->value).value, use, depth + 1);
    }
  };
  for (Fields fields(attr_value); fields.next();) {
    if (fields->bytes(10)) name_and_attrs(fields->value);
    if (!fields->bytes(1)) continue;
    for (Fields list(fields->value); list.next();) {
      if (list->bytes(9)) name_and_attrs(list->value);
    }
  }
}

}  // namespace gedit
