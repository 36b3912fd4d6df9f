#include "graph/types.h"

#include <algorithm>
#include <unordered_map>

#include "ops/kinds.h"

namespace gedit {
namespace {

// Attributes of one node, an absent one as its op's default. They are asked for one after the other: node and
// op are gone through each time, and after some times once for all, so that an op with very many arguments
// costs no more than it is long.
class AttrLookup {
 public:
  AttrLookup(const OpDef& op, std::string_view node_def) : op_(op), node_def_(node_def) {}

  std::optional<std::string_view> find(std::string_view key) {
    if (asked_ == 0 || key != last_key_) {  // mostly all arguments are of one type
      last_ = look_up(key);
      last_key_ = key;
    }
    return last_;
  }

 private:
  std::optional<std::string_view> look_up(std::string_view key) {
    if (asked_++ < kMostWalks) {
      const auto found = find_attr(node_def_, key);
      if (found) return found;
      const AttrDef* attr = op_.find_attr(key);
      return attr != nullptr && attr->has_default ? std::optional(attr->default_value) : std::nullopt;
    }
    if (all_.empty()) collect();
    const auto found = all_.find(key);
    return found == all_.end() ? std::nullopt : std::optional(found->second);
  }

  void collect() {
    for (const AttrDef& attr : op_.attrs) {
      if (attr.has_default) all_[attr.name] = attr.default_value;
    }
    each_attr(node_def_, [&](std::string_view name, std::string_view value) { all_[name] = value; });
  }

  static constexpr size_t kMostWalks = 16;
  const OpDef& op_;
  std::string_view node_def_;
  size_t asked_ = 0;
  std::string_view last_key_;
  std::optional<std::string_view> last_;
  std::unordered_map<std::string_view, std::string_view> all_;
};

// The number that an AttrValue holds in this field, if it is the one that it holds.
std::optional<uint64_t> number_in(const std::optional<std::string_view>& attr_value, uint32_t field) {
  std::optional<uint64_t> number;
  if (!attr_value) return number;
  for (Fields fields(*attr_value); fields.next();) {
    if (fields->number == field) number = fields->wire == Wire::kVarint ? fields->varint : number.value_or(0);
  }
  return number;
}

// Hostile counts: a node has no more inputs or outputs than this.
constexpr size_t kMostTensors = 10'000'000;

// What an argument stands for.
struct ArgumentTensors {
  const ArgDef& arg;
  size_t count;
  std::string_view types;  // AttrValue of a list(type): of each its own
  DType type;              // else of each

  DType typed(DType one) const { return arg.is_ref && one != DType::kInvalid ? reference_to(one) : one; }
  DType type_at(size_t index) const { return typed(types.empty() ? type : type_list(types)[index]); }
};

// Calls use(tensors) for each argument; false where an attribute that decides is missing.
template <typename Use>
bool each_argument(const OpDef& op, const std::vector<ArgDef>& args, std::string_view node_def, Use use) {
  AttrLookup attrs(op, node_def);
  size_t left = kMostTensors;
  for (const ArgDef& arg : args) {
    ArgumentTensors tensors{arg, 1, {}, DType{arg.type}};
    if (!arg.type_list_attr.empty()) {
      const auto list = attrs.find(arg.type_list_attr);
      if (!list || has_field(*list, attr_field::kPlaceholder)) return false;
      tensors.types = *list;
      tensors.count = type_count(*list);
    } else {
      if (!arg.number_attr.empty()) {
        const auto number = number_in(attrs.find(arg.number_attr), attr_field::kInt);
        if (!number || *number > kMostTensors) return false;  // or negative
        tensors.count = *number;
      }
      if (!arg.type_attr.empty())
        tensors.type =
            static_cast<DType>(number_in(attrs.find(arg.type_attr), attr_field::kType).value_or(0));
    }
    if (tensors.count > left) return false;
    left -= tensors.count;
    use(tensors);
  }
  return true;
}

template <typename Use>
bool each_tensor(const OpDef& op, const std::vector<ArgDef>& args, std::string_view node_def, Use use) {
  return each_argument(op, args, node_def, [&](const ArgumentTensors& tensors) {
    uint32_t index = 0;
    if (!tensors.types.empty()) {
      for (const DType type : type_list(tensors.types)) use(tensors.arg, index++, tensors.typed(type));
    }
    while (index < tensors.count) use(tensors.arg, index++, tensors.typed(tensors.type));
  });
}

std::optional<OpDef> definition(Registry& ops, std::string_view node_def) {
  const std::string_view op_def = ops.find(node_op(node_def));
  if (op_def.empty()) return std::nullopt;
  return parse_op_def(op_def);
}

bool types(const OpDef& op, std::string_view node_def, bool outputs, std::vector<DType>& found) {
  found.clear();
  return each_tensor(op, outputs ? op.outputs : op.inputs, node_def,
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
DType output_type(Registry& ops, std::string_view node_def, size_t index) {
  const std::optional<OpDef> op = definition(ops, node_def);
  return op ? output_type(*op, node_def, index) : DType::kInvalid;
}
DType output_type(const OpDef& op, std::string_view node_def, size_t index) {
  DType found = DType::kInvalid;
  size_t begin = 0;  // of the argument's tensors
  const auto look = [&](const ArgumentTensors& tensors) {
    if (index >= begin && index - begin < tensors.count) found = tensors.type_at(index - begin);
    begin += tensors.count;
  };
  return each_argument(op, op.outputs, node_def, look) ? found : DType::kInvalid;
}
std::optional<size_t> output_count(Registry& ops, std::string_view node_def) {
  const std::optional<OpDef> op = definition(ops, node_def);
  return op ? output_count(*op, node_def) : std::nullopt;
}
std::optional<size_t> output_count(const OpDef& op, std::string_view node_def) {
  size_t count = 0;
  const auto add = [&](const ArgumentTensors& tensors) { count += tensors.count; };
  return each_argument(op, op.outputs, node_def, add) ? std::optional(count) : std::nullopt;
}
bool input_types(const OpDef& op, std::string_view node_def, std::vector<DType>& found) {
  return types(op, node_def, false, found);
}

bool output_names(const OpDef& op, std::string_view node_def, std::vector<OutputName>& found) {
  found.clear();
  return each_tensor(op, op.outputs, node_def, [&](const ArgDef& arg, uint32_t i, DType) {
    found.push_back({arg.name, i});  // a view into the op's definition
  });
}

std::optional<std::vector<OutputName>> output_names(Registry& ops, std::string_view node_def) {
  const std::optional<OpDef> op = definition(ops, node_def);
  std::vector<OutputName> found;  // views into the op's bytes, which outlive this
  if (!op || !output_names(*op, node_def, found)) return std::nullopt;
  return found;
}

std::string with_types(std::string_view node_def, std::string_view key, const std::vector<DType>& types) {
  std::vector<DType> all = type_list(find_attr(node_def, key).value_or(""));
  all.insert(all.end(), types.begin(), types.end());
  return with_attr(node_def, key, type_list_value(all));
}

bool fits(DType from, DType to) {
  if (from == DType::kInvalid || to == DType::kInvalid) return true;
  return from == to || (is_reference(from) && base_type(from) == to);
}

bool compatible(const Shape& a, const Shape& b) {
  if (!a || !b) return true;
  return std::ranges::equal(*a, *b, [](int64_t x, int64_t y) { return x < 0 || y < 0 || x == y; });
}

Shape parse_shape_proto(std::string_view proto) {
  constexpr size_t kUsualDimension = 4;  // bytes
  std::vector<int64_t> dims;
  dims.reserve(proto.size() / kUsualDimension);
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

namespace {

// From the attribute that the op itself has.
Shape own_shape(std::string_view node_def) {
  const std::string_view op = node_op(node_def);
  if (is_const_op(op)) {
    const auto value = find_attr(node_def, "value");
    if (!value) return std::nullopt;
    return parse_shape_proto(last_bytes(last_bytes(*value, attr_field::kTensor), 2));
  }
  const auto shape = is(op, OpKind::kHasShape) ? find_attr(node_def, "shape") : std::nullopt;
  if (!shape) return std::nullopt;
  return parse_shape_proto(last_bytes(*shape, attr_field::kShape));
}

}  // namespace

Shape output_shape(std::string_view node_def, uint32_t index) {
  if (const auto shapes = find_attr(node_def, "_output_shapes")) {
    uint32_t at = 0;
    for (Fields list(last_bytes(*shapes, attr_field::kList)); list.next();) {
      if (list->bytes(attr_field::kShape) && at++ == index) return parse_shape_proto(list->value);
    }
  }
  return own_shape(node_def);
}

std::vector<Shape> output_shapes(std::string_view node_def) {
  std::vector<Shape> found;
  if (const auto shapes = find_attr(node_def, "_output_shapes")) {
    for (Fields list(last_bytes(*shapes, attr_field::kList)); list.next();) {
      if (list->bytes(attr_field::kShape)) found.push_back(parse_shape_proto(list->value));
    }
  }
  if (found.empty()) found.push_back(own_shape(node_def));
  return found;
}

}  // namespace gedit
