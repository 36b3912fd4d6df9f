#include "graph/node.h"

#include <algorithm>
#include <array>

#include "base/map_entry.h"
#include "base/message_edit.h"
#include "base/number.h"
#include "base/packed.h"
#include "graph/colocation.h"

namespace gedit {
namespace {

// An AttrValue with a list of numbers, and the numbers in one; a DType is an enum of 32 bits with a sign.
template <typename Number>
std::string packed_list(uint32_t field, const std::vector<Number>& numbers) {
  std::string packed, list, value;
  for (const Number number : numbers)
    append_varint(packed, static_cast<uint64_t>(static_cast<int64_t>(number)));
  if (!numbers.empty()) append_bytes_field(list, field, packed);
  append_bytes_field(value, attr_field::kList, list);
  return value;
}

template <typename Number>
std::vector<Number> unpacked_list(uint32_t field, std::string_view attr_value) {
  std::vector<Number> numbers;
  for (Fields list(last_bytes(attr_value, attr_field::kList)); list.next();) {
    if (list->number != field) continue;
    each_varint(list.field(), [&](uint64_t number) { numbers.push_back(static_cast<Number>(number)); });
  }
  return numbers;
}

constexpr bool digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The one field that an AttrValue holds, of the wanted kind.
std::optional<Field> value_of(std::string_view node_def, std::string_view key, uint32_t field, Wire wire) {
  const std::optional<std::string_view> attr = find_attr(node_def, key);
  if (!attr) return std::nullopt;
  std::optional<Field> found;
  for (Fields fields(*attr); fields.next();) {
    if (fields->number == field && fields->wire == wire) found = fields.field();
  }
  return found;
}

}  // namespace

NodeHead node_head(std::string_view node_def) {
  NodeHead head;
  for (Fields fields(node_def); fields.next();) {
    if (fields->wire != Wire::kBytes) continue;
    if (fields->number == node_field::kName) head.name = fields->value;
    if (fields->number == node_field::kOp) head.op = fields->value;
    if (fields->number == node_field::kDevice) head.device = fields->value;
  }
  return head;
}

std::string_view any_node_name(std::string_view node_def) { return last_bytes(node_def, node_field::kName); }

std::string_view any_node_op(std::string_view node_def) { return last_bytes(node_def, node_field::kOp); }

std::optional<std::string> without_doubles(std::string_view node_def) {
  constexpr std::array kOnce{node_field::kName, node_field::kOp, node_field::kDevice};
  std::array<size_t, kOnce.size()> left{};
  const auto place = [&](const Field& field) {
    return field.wire == Wire::kBytes ? std::ranges::find(kOnce, field.number) - kOnce.begin()
                                      : std::ptrdiff_t{kOnce.size()};
  };
  for (Fields fields(node_def); fields.next();) {
    const auto at = static_cast<size_t>(place(fields.field()));
    if (at < left.size()) ++left[at];
  }
  if (std::ranges::all_of(left, [](size_t count) { return count < 2; })) return std::nullopt;
  std::string out;
  for (Fields fields(node_def); fields.next();) {
    const auto at = static_cast<size_t>(place(fields.field()));
    if (at == left.size() || --left[at] == 0) out += fields->raw;
  }
  return out;
}

std::string_view once_each(std::string_view node_def, Arena& arena) {
  if (fields_ascend(node_def)) return node_def;
  std::optional<std::string> once = without_doubles(node_def);
  return once ? arena.keep(std::move(*once)) : node_def;
}

uint32_t output_number(std::string_view written) {
  return read_number<uint32_t>(written).value_or(kBeyondOutputs);
}

Input parse_marked_input(std::string_view text) {
  if (text.starts_with('^')) return {text.substr(1), {}, true};
  size_t digits = text.size();
  while (digits > 0 && digit(text[digits - 1])) --digits;
  if (digits > 1 && digits < text.size() && text[digits - 1] == ':') {
    return {text.substr(0, digits - 1), text.substr(digits), false};
  }
  return {text, {}, false};
}

Input parse_body_input(std::string_view text) {
  if (text.starts_with('^')) return {text.substr(1), {}, true};
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {text, {}, false};
  return {text.substr(0, colon), text.substr(colon + 1), false};
}

std::string canonical_input(std::string_view input) {
  const Input parsed = parse_input(input);
  if (parsed.control) return "^" + std::string(parsed.node);
  const uint32_t index = parsed.index();
  return index == 0 ? std::string(parsed.node) : std::string(parsed.node) + ":" + std::to_string(index);
}

std::vector<std::string> inputs_of(std::string_view node_def) {
  std::vector<std::string> inputs;
  each_input(node_def, [&](std::string_view input) { inputs.emplace_back(input); });
  return inputs;
}

std::vector<std::string_view> input_views(std::string_view node_def) {
  std::vector<std::string_view> inputs;
  each_input(node_def, [&](std::string_view input) { inputs.push_back(input); });
  return inputs;
}

std::optional<std::string_view> find_attr(std::string_view node_def, std::string_view key) {
  std::optional<std::string_view> found;
  each_attr(node_def, [&](std::string_view name, std::string_view value) {
    if (name == key) found = value;
  });
  return found;
}

std::optional<std::string_view> string_attr(std::string_view node_def, std::string_view key) {
  const auto field = value_of(node_def, key, attr_field::kString, Wire::kBytes);
  return field ? std::optional(field->value) : std::nullopt;
}

std::optional<DType> type_attr(std::string_view node_def, std::string_view key) {
  const auto field = value_of(node_def, key, attr_field::kType, Wire::kVarint);
  return field ? std::optional(static_cast<DType>(field->varint)) : std::nullopt;
}

std::optional<int64_t> int_attr(std::string_view node_def, std::string_view key) {
  const auto field = value_of(node_def, key, attr_field::kInt, Wire::kVarint);
  return field ? std::optional(static_cast<int64_t>(field->varint)) : std::nullopt;
}

NodeBuilder& NodeBuilder::attr(std::string_view key, std::string_view attr_value) {
  append_map_entry(bytes_, node_field::kAttr, key, attr_value);
  return *this;
}

NodeBuilder& NodeBuilder::type(std::string_view key, DType type) { return attr(key, type_value(type)); }

std::string string_value(std::string_view text) {
  std::string value;
  append_bytes_field(value, attr_field::kString, text);
  return value;
}

std::string type_value(DType type) {
  std::string value;
  append_varint_field(value, attr_field::kType, static_cast<uint64_t>(static_cast<int32_t>(type)));
  return value;
}

std::string int_value(int64_t number) {
  std::string value;
  append_varint_field(value, attr_field::kInt, static_cast<uint64_t>(number));
  return value;
}

std::string int_list_value(const std::vector<int64_t>& numbers) {
  return packed_list(attr_field::kInt, numbers);
}

std::string string_list_value(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) append_bytes_field(list, attr_field::kString, text);
  std::string value;
  append_bytes_field(value, attr_field::kList, list);
  return value;
}

std::string colocation_value(std::string_view node) {
  return string_list_value({std::string(kColocatedWith) + std::string(node)});
}

std::string bool_value(bool value) {
  std::string text;
  append_varint_field(text, attr_field::kBool, value ? 1 : 0);
  return text;
}

std::string type_list_value(const std::vector<DType>& types) { return packed_list(attr_field::kType, types); }

std::string tensor_value(std::string_view tensor_proto) {
  std::string value;
  append_bytes_field(value, attr_field::kTensor, tensor_proto);
  return value;
}

std::vector<DType> type_list(std::string_view attr_value) {
  return unpacked_list<DType>(attr_field::kType, attr_value);
}

size_t type_count(std::string_view attr_value) {
  size_t count = 0;
  for (Fields list(last_bytes(attr_value, attr_field::kList)); list.next();) {
    if (list->number != attr_field::kType) continue;
    count += list->wire == Wire::kBytes ? varint_count(list->value) : list->wire == Wire::kVarint ? 1 : 0;
  }
  return count;
}

std::vector<int64_t> int_list(std::string_view attr_value) {
  return unpacked_list<int64_t>(attr_field::kInt, attr_value);
}

std::string with_inputs(std::string_view node_def, const std::vector<std::string>& inputs) {
  return with_fields(node_def, node_field::kInput, inputs);
}

std::string with_name(std::string_view node_def, std::string_view name) {
  return with_field(node_def, node_field::kName, name);
}

std::string with_op(std::string_view node_def, std::string_view op) {
  return with_field(node_def, node_field::kOp, op);
}

std::string with_attr(std::string_view node_def, std::string_view key,
                      std::optional<std::string_view> attr_value) {
  std::string field;
  if (attr_value) append_map_entry(field, node_field::kAttr, key, *attr_value);
  std::string out;
  out.reserve(node_def.size() + field.size());
  bool written = false;
  for (Fields fields(node_def); fields.next();) {
    const bool same = fields->bytes(node_field::kAttr) && map_entry(fields->value).key == key;
    if (!same) {
      out += fields->raw;
    } else if (!written) {
      out += field;
      written = true;
    }
  }
  if (!written) out += field;
  return out;
}

std::string without_attr(std::string_view node_def, std::string_view key) {
  return with_attr(node_def, key, std::nullopt);
}

namespace {

// What a character is in a node name.
enum : uint8_t { kAnywhere = 1, kNotFirst = 2, kEndsPiece = 4, kInvalid = 8 };
constexpr std::array<uint8_t, 256> kNameCharacters = [] {
  std::array<uint8_t, 256> table{};
  table.fill(kInvalid);
  for (int c = 0; c < 128; ++c) {
    const auto character = static_cast<char>(c);
    if (letter(character) || digit(character) || character == '.') table[static_cast<size_t>(c)] = kAnywhere;
  }
  for (const unsigned char c : {'_', '-', '/'}) table[c] = kNotFirst;
  table['>'] = kNotFirst | kEndsPiece;
  return table;
}();

}  // namespace

size_t invalid_name_at(std::string_view name) {
  const auto is = [&](size_t i) { return kNameCharacters[static_cast<unsigned char>(name[i])]; };
  unsigned all = 0;  // nearly every name is valid, and one piece
  for (size_t i = 0; i < name.size(); ++i) all |= is(i);
  if ((all & (kInvalid | kEndsPiece)) == 0 && !name.empty() && is(0) == kAnywhere)
    return std::string_view::npos;
  bool first = true;
  for (size_t i = 0; i < name.size(); ++i) {
    if ((is(i) & kInvalid) != 0 || (first && (is(i) & kNotFirst) != 0)) return i;
    first = (is(i) & kEndsPiece) != 0;
  }
  return first ? name.size() : std::string_view::npos;  // empty, or nothing after the last `>`
}

}  // namespace gedit
