#include "graph/types.h"

namespace gedit {
namespace {

// Hostile counts: a node has no more outputs than this by a number attribute.
constexpr int64_t kMostRepeated = 10'000'000;

template <typename Use>
bool each_tensor(const std::vector<ArgDef>& args, std::string_view node_def, Use use) {
  for (const ArgDef& arg : args) {
    const auto typed = [&](DType type) { return arg.is_ref ? reference_to(type) : type; };
    if (!arg.type_list_attr.empty()) {
      const auto list = find_attr(node_def, arg.type_list_attr);
      if (!list || has_field(*list, attr_field::kPlaceholder)) return false;
      uint32_t index = 0;
      for (const DType type : type_list(*list)) use(arg, index++, typed(type));
      continue;
    }
    int64_t count = 1;
    if (!arg.number_attr.empty()) {
      const auto number = int_attr(node_def, arg.number_attr);
      if (!number || *number < 0 || *number > kMostRepeated) return false;
      count = *number;
    }
    DType type{arg.type};
    if (!arg.type_attr.empty()) type = gedit::type_attr(node_def, arg.type_attr).value_or(DType::kInvalid);
    for (int64_t i = 0; i < count; ++i)
      use(arg, static_cast<uint32_t>(i), type == DType::kInvalid ? type : typed(type));
  }
  return true;
}

// A type attribute that is absent has its default.
std::optional<OpDef> definition(Registry& ops, std::string_view node_def) {
  const std::string_view op_def = ops.find(node_op(node_def));
  if (op_def.empty()) return std::nullopt;
  return parse_op_def(op_def);
}

// The node with defaults of the attributes that decide about types; usually the node itself.
std::string_view with_defaults(const OpDef& op, std::string_view node_def, std::string& storage) {
  for (const AttrDef& attr : op.attrs) {
    if (!attr.has_default || (attr.type != "type" && attr.type != "int" && attr.type != "list(type)"))
      continue;
    if (find_attr(node_def, attr.name)) continue;
    if (storage.empty()) storage = node_def;
    std::string entry;
    append_bytes_field(entry, 1, attr.name);
    append_bytes_field(entry, 2, attr.default_value);
    append_bytes_field(storage, node_field::kAttr, entry);
  }
  return storage.empty() ? node_def : std::string_view(storage);
}

bool types(const OpDef& op, std::string_view node_def, bool outputs, std::vector<DType>& found) {
  std::string storage;
  found.clear();
  return each_tensor(outputs ? op.outputs : op.inputs, with_defaults(op, node_def, storage),
                     [&](const ArgDef&, uint32_t, DType type) { found.push_back(type); });
}

std::optional<std::vector<DType>> types(Registry& ops, std::string_view node_def, bool outputs) {
  const std::optional<OpDef> op = definition(ops, node_def);
  std::vector<DType> found;
  if (!op || !types(*op, node_def, outputs, found)) return std::nullopt;
  return found;
}

}  // namespace

std::optional<std::vector<DType>> output_types(Registry& ops, std::string_view node_def) {
  return types(ops, node_def, true);
}
std::optional<std::vector<DType>> input_types(Registry& ops, std::string_view node_def) {
  return types(ops, node_def, false);
}
bool output_types(const OpDef& op, std::string_view node_def, std::vector<DType>& found) {
  return types(op, node_def, true, found);
}
bool input_types(const OpDef& op, std::string_view node_def, std::vector<DType>& found) {
  return types(op, node_def, false, found);
}

bool output_names(const OpDef& op, std::string_view node_def, std::vector<OutputName>& found) {
  std::string storage;
  found.clear();
  return each_tensor(op.outputs, with_defaults(op, node_def, storage),
                     [&](const ArgDef& arg, uint32_t i, DType) {
                       found.push_back({arg.name, i});  // a view into the op's definition
                     });
}

std::optional<std::vector<OutputName>> output_names(Registry& ops, std::string_view node_def) {
  const std::optional<OpDef> op = definition(ops, node_def);
  std::vector<OutputName> found;  // views into the op's bytes, which outlive this
  if (!op || !output_names(*op, node_def, found)) return std::nullopt;
  return found;
}

bool fits(DType from, DType to) {
  if (from == DType::kInvalid || to == DType::kInvalid) return true;
  return from == to || (is_reference(from) && base_type(from) == to);
}

Shape parse_shape_proto(std::string_view proto) {
  std::vector<int64_t> dims;
  for (Fields fields(proto); fields.next();) {
    if (fields->number == 3 && fields->wire == Wire::kVarint && fields->varint != 0) return std::nullopt;
    if (fields->bytes(2)) dims.push_back(static_cast<int64_t>(last_varint(fields->value, 1)));
  }
  return dims;
}

std::string shape_proto(const Shape& shape) {
  std::string proto;
  if (!shape) {
    append_varint_field(proto, 3, 1);
    return proto;
  }
  for (const int64_t size : *shape) {
    std::string dim;
    if (size != 0) append_varint_field(dim, 1, static_cast<uint64_t>(size));
    append_bytes_field(proto, 2, dim);
  }
  return proto;
}

std::string shape_text(const Shape& shape) {
  if (!shape) return "";
  std::string text = "[";
  for (size_t i = 0; i < shape->size(); ++i) {
    if (i > 0) text += ',';
    text += (*shape)[i] < 0 ? "?" : std::to_string((*shape)[i]);
  }
  return text + "]";
}

Shape output_shape(std::string_view node_def, uint32_t index) {
  if (const auto shapes = find_attr(node_def, "_output_shapes")) {
    uint32_t at = 0;
    for (Fields list(last_bytes(*shapes, attr_field::kList)); list.next();) {
      if (list->bytes(attr_field::kShape) && at++ == index) return parse_shape_proto(list->value);
    }
  }
  const std::string_view op = node_op(node_def);
  if (op == "Const") {
    const auto value = find_attr(node_def, "value");
    if (!value) return std::nullopt;
    return parse_shape_proto(last_bytes(last_bytes(*value, attr_field::kTensor), 2));
  }
  const bool shaped =
      op.starts_with("Placeholder") || op == "VariableV2" || op == "Variable" || op == "AutoReloadVariable";
  const auto shape = shaped ? find_attr(node_def, "shape") : std::nullopt;
  if (!shape) return std::nullopt;
  return parse_shape_proto(last_bytes(*shape, attr_field::kShape));
}

}  // namespace gedit
