#include "edit/functions/function_def.h"

#include <array>

namespace gedit {
namespace {

constexpr uint32_t kListShape = 7;  // AttrValue.ListValue

// The fields `number` in another order, all of them where the first one stood.
std::string with_field_order(std::string_view message, uint32_t number, const std::vector<size_t>& order) {
  std::vector<std::string_view> raws;
  for (Fields fields(message); fields.next();) {
    if (fields->bytes(number)) raws.push_back(fields->raw);
  }
  if (raws.size() < order.size()) return std::string(message);
  std::string ordered;
  for (const size_t from : order) ordered += raws[from];
  for (size_t i = order.size(); i < raws.size(); ++i) ordered += raws[i];
  std::string out;
  bool written = false;
  for (Fields fields(message); fields.next();) {
    if (!fields->bytes(number)) {
      out += fields->raw;
    } else if (!written) {
      out += ordered;
      written = true;
    }
  }
  return out;
}

std::string with_shape_order(std::string_view attr_value, const std::vector<size_t>& order) {
  return with_each(attr_value, attr_field::kList,
                   [&](std::string_view list) { return with_field_order(list, kListShape, order); });
}

// An entry of arg_attr: the number of the argument is its key.
std::string with_argument_number(std::string_view entry, const std::vector<size_t>& order) {
  const uint64_t number = last_varint(entry, 1);
  if (number >= order.size()) return std::string(entry);
  size_t now = 0;
  while (order[now] != number) ++now;
  std::string out;
  append_varint_field(out, 1, now);
  for (Fields fields(entry); fields.next();) {
    if (fields->number != 1) out += fields->raw;
  }
  return out;
}

}  // namespace

std::string with_function_name(std::string_view function_def, std::string_view name) {
  return with_each(function_def, function_field::kSignature, [&](std::string_view signature) {
    return with_each(signature, op_def_field::kName, [&](std::string_view) { return std::string(name); });
  });
}

std::string with_order(std::string_view function_def, const std::vector<size_t>& inputs,
                       const std::vector<size_t>& outputs) {
  std::string out;
  for (Fields fields(function_def); fields.next();) {
    if (fields->bytes(function_field::kSignature)) {
      append_bytes_field(out, function_field::kSignature,
                         with_field_order(with_field_order(fields->value, op_def_field::kInput, inputs),
                                          op_def_field::kOutput, outputs));
    } else if (fields->bytes(function_field::kArgAttr)) {
      append_bytes_field(out, function_field::kArgAttr, with_argument_number(fields->value, inputs));
    } else if (fields->bytes(function_field::kAttr) && map_entry(fields->value).key == "_input_shapes") {
      append_bytes_field(out, function_field::kAttr, with_each(fields->value, 2, [&](std::string_view value) {
                           return with_shape_order(value, inputs);
                         }));
    } else {
      out += fields->raw;
    }
  }
  return out;
}

std::string with_output(std::string_view function_def, std::string_view name, DType type,
                        std::string_view source) {
  std::string arg;
  append_bytes_field(arg, op_def_field::kArgName, name);
  append_varint_field(arg, op_def_field::kArgType, static_cast<uint64_t>(type));
  std::string ret;
  append_bytes_field(ret, 1, name);
  append_bytes_field(ret, 2, source);
  std::string out = with_each(function_def, function_field::kSignature, [&](std::string_view signature) {
    // Behind the last output; fields of a higher number follow it.
    std::string before, after;
    for (Fields fields(signature); fields.next();)
      (fields->number <= op_def_field::kOutput ? before : after) += fields->raw;
    append_bytes_field(before, op_def_field::kOutput, arg);
    return before + after;
  });
  append_bytes_field(out, function_field::kRet, ret);
  return out;
}

std::string without_alternatives(std::string_view function_def) {
  // core/grappler/optimizers/implementation_selector.cc, core/common_runtime/function_utils.cc
  static constexpr std::array<std::string_view, 4> kAttrs{"api_implements", "api_preferred_device",
                                                          "forward_function_name", "backward_function_name"};
  std::string out;
  for (Fields fields(function_def); fields.next();) {
    bool drop = false;
    if (fields->bytes(function_field::kAttr)) {
      const std::string_view key = map_entry(fields->value).key;
      for (const std::string_view attr : kAttrs) drop = drop || key == attr;
    }
    if (!drop) out += fields->raw;
  }
  return out;
}

std::string free_function_name(const Library& library, Registry& ops, std::string_view base) {
  std::string name(base);
  const auto taken = [&] {
    for (const Function& function : library.functions) {
      if (function.name == name) return true;
    }
    return !ops.find(name).empty();
  };
  for (int number = 1; taken(); ++number) name = std::string(base) + "_" + std::to_string(number);
  return name;
}

std::string argument_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    name += upper ? static_cast<char>(c - 'A' + 'a') : plain ? c : '_';
  }
  if (name.empty() || name[0] < 'a' || name[0] > 'z') name.insert(0, "t_");
  return name;
}

}  // namespace gedit
