#include "edit/functions/call_attributes.h"

#include "base/message_edit.h"
#include "graph/name_attr_list.h"
#include "graph/node.h"
#include "graph/types.h"
#include "graph/wiring.h"
#include "ops/kinds.h"

namespace gedit {

std::string with_shapes(std::string_view attr_value, const std::map<uint32_t, Carried>& shapes) {
  std::string list;
  uint32_t at = 0;
  for (Fields fields(last_bytes(attr_value, attr_field::kList)); fields.next();) {
    const auto found = fields->bytes(attr_field::kShape) ? shapes.find(at++) : shapes.end();
    if (found == shapes.end()) {
      list += fields->raw;
    } else {
      append_bytes_field(list, attr_field::kShape, shape_proto(found->second.shape));
    }
  }
  std::string value;
  append_bytes_field(value, attr_field::kList, list);
  return value;
}

std::string without_inputs(std::string_view attr_value, const std::map<uint32_t, Carried>& gone) {
  std::vector<int64_t> numbers = int_list(attr_value);
  std::erase_if(numbers, [&](int64_t number) {
    return number >= 0 && number <= UINT32_MAX && gone.contains(static_cast<uint32_t>(number));
  });
  return int_list_value(numbers);
}

std::string with_types(std::string_view node_def, std::string_view key,
                       const std::map<uint32_t, Carried>& carried, uint32_t first) {
  const auto value = find_attr(node_def, key);
  if (!value) return std::string(node_def);
  std::vector<DType> types = type_list(*value);
  for (const auto& [index, one] : carried) {
    if (index >= first && index - first < types.size()) types[index - first] = one.dtype;
  }
  return with_attr(node_def, key, type_list_value(types));
}

std::vector<std::string_view> functions_in(std::string_view attr_value) {
  std::vector<std::string_view> names;
  each_name_attr_list(attr_value, [&](std::string_view list) { names.push_back(last_bytes(list, 1)); });
  return names;
}

std::string with_functions(std::string_view attr_value, const std::vector<std::string>& names) {
  size_t next = 0;
  return with_name_attr_lists(attr_value, [&](std::string_view list) {
    std::string out;
    append_bytes_field(out, 1, next < names.size() ? names[next] : std::string());
    ++next;
    for (Fields fields(list); fields.next();) {
      if (!fields->bytes(1)) out += fields->raw;
    }
    return out;
  });
}

std::string calling(std::string_view node_def, std::string_view function) {
  const auto renamed = [&](std::string_view) { return std::string(function); };
  if (!is(node_op(node_def), OpKind::kLocalCall)) return with_each_field(node_def, node_field::kOp, renamed);
  const auto before = find_attr(node_def, "f");
  const std::string value =
      with_each_field(before.value_or(""), attr_field::kFunc,
                      [&](std::string_view func) { return with_each_field(func, 1, renamed); });
  return with_attr(node_def, "f", value);
}

std::string with_arguments(std::string_view node_def, const std::vector<std::string>& inputs,
                           const std::vector<DType>& types) {
  const std::string rewired = with_inputs(node_def, inputs);
  return find_attr(rewired, "Tin") ? with_attr(rewired, "Tin", type_list_value(types)) : rewired;
}

}  // namespace gedit
