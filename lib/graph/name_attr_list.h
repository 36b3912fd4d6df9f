// The functions that an AttrValue names, each a NameAttrList: a name, and the attributes that it is called
// with. One stands alone or several in a list; their attributes may name functions again.
#pragma once

#include <string>
#include <string_view>

#include "base/message_edit.h"
#include "base/wire.h"
#include "graph/node.h"
#include "graph/references.h"

namespace gedit {

// Whether a function can be named: the first byte tells (func or list), since a value holds one field.
inline bool may_name_function(std::string_view attr_value) {
  return !attr_value.empty() &&
         (attr_value[0] == (attr_field::kFunc << 3 | 2) || attr_value[0] == (attr_field::kList << 3 | 2));
}

// Calls use(list) for every NameAttrList, in the order in which they stand.
template <typename Use>
void each_name_attr_list(std::string_view attr_value, Use use) {
  for (Fields fields(attr_value); fields.next();) {
    if (fields->bytes(attr_field::kFunc)) use(fields->value);
    if (!fields->bytes(attr_field::kList)) continue;
    for (Fields list(fields->value); list.next();) {
      if (list->bytes(attr_field::kListFunc)) use(list->value);
    }
  }
}

// The value with change(list) for every NameAttrList, called in the same order.
template <typename Change>
std::string with_name_attr_lists(std::string_view attr_value, const Change& change) {
  std::string out;
  for (Fields fields(attr_value); fields.next();) {
    if (fields->bytes(attr_field::kFunc)) {
      append_bytes_field(out, attr_field::kFunc, change(fields->value));
    } else if (fields->bytes(attr_field::kList)) {
      append_bytes_field(out, attr_field::kList,
                         with_each_field(fields->value, attr_field::kListFunc, change));
    } else {
      out += fields->raw;
    }
  }
  return out;
}

// Calls use(name) for every function that is named, those in the attributes of others included. Throws
// Malformed past kDeepest.
template <typename Use>
void each_function(std::string_view attr_value, Use use, int depth = 0) {
  if (depth > kDeepest) throw Malformed(attr_value.data(), "attribute values nest too deep");
  each_name_attr_list(attr_value, [&](std::string_view list) {
    for (Fields fields(list); fields.next();) {
      if (fields->bytes(1)) use(fields->value);
      if (fields->bytes(2)) each_function(map_entry(fields->value).value, use, depth + 1);
    }
  });
}

// The name of the one that stands alone; empty where none does.
inline std::string_view function_in(std::string_view attr_value) {
  return last_bytes(last_bytes(attr_value, attr_field::kFunc), 1);
}

}  // namespace gedit
