#include "edit/retargeting/site.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/float16.h"
#include "base/map_entry.h"
#include "checkpoint/tensor_proto.h"
#include "graph/string_const.h"
#include "graph/wiring.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr uint64_t kMostConstElements = 64;
constexpr std::string_view kShapes = "_output_shapes";

namespace tensor_field {  // TensorProto
constexpr uint32_t kType = 1, kShape = 2, kFloat = 5, kDouble = 6, kInt = 7, kString = 8, kInt64 = 10,
                   kBool = 11, kHalf = 13;
}

void append_fixed32(std::string& out, uint32_t number, uint32_t bits) {
  append_tag(out, number, Wire::kFixed32);
  for (int i = 0; i < 4; ++i) out += static_cast<char>(bits >> (8 * i));
}

void append_fixed64(std::string& out, uint32_t number, uint64_t bits) {
  append_tag(out, number, Wire::kFixed64);
  for (int i = 0; i < 8; ++i) out += static_cast<char>(bits >> (8 * i));
}

std::string proto_head(DType type, const Shape& shape) {
  std::string proto;
  append_varint_field(proto, tensor_field::kType, static_cast<uint64_t>(type));
  append_bytes_field(proto, tensor_field::kShape, shape_proto(shape));
  return proto;
}

template <typename T>
T element_at(const std::string& bytes, uint64_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
  return value;
}

std::optional<double> element(DType type, const std::string& bytes, uint64_t index) {
  switch (type) {
    case DType::kFloat:
      return element_at<float>(bytes, index);
    case DType::kDouble:
      return element_at<double>(bytes, index);
    case DType::kInt32:
      return element_at<int32_t>(bytes, index);
    case DType::kInt64:
      return static_cast<double>(element_at<int64_t>(bytes, index));
    case DType::kBool:
    case DType::kUint8:
      return element_at<uint8_t>(bytes, index);
    case DType::kInt8:
      return element_at<int8_t>(bytes, index);
    case DType::kHalf:
      return half_value(element_at<uint16_t>(bytes, index));
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string scalar_proto(DType type, double value) {
  std::string proto = proto_head(type, std::vector<int64_t>{});
  switch (type) {
    case DType::kDouble:
      append_fixed64(proto, tensor_field::kDouble, std::bit_cast<uint64_t>(value));
      break;
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kUint8:
    case DType::kUint16:
      append_varint_field(proto, tensor_field::kInt, static_cast<uint64_t>(static_cast<int64_t>(value)));
      break;
    case DType::kInt64:
      append_varint_field(proto, tensor_field::kInt64, static_cast<uint64_t>(static_cast<int64_t>(value)));
      break;
    case DType::kBool:
      append_varint_field(proto, tensor_field::kBool, value != 0 ? 1 : 0);
      break;
    case DType::kHalf:
      append_varint_field(proto, tensor_field::kHalf, half_bits(static_cast<float>(value)));
      break;
    default:
      append_fixed32(proto, tensor_field::kFloat, std::bit_cast<uint32_t>(static_cast<float>(value)));
  }
  return proto;
}

std::string string_proto(std::string_view text) {
  std::string proto = proto_head(DType::kString, std::vector<int64_t>{});
  append_bytes_field(proto, tensor_field::kString, text);
  return proto;
}

std::string int_matrix_proto(const std::vector<int64_t>& values, const std::vector<int64_t>& shape) {
  std::string proto = proto_head(DType::kInt32, shape);
  std::string packed;
  for (const int64_t value : values) append_varint(packed, static_cast<uint64_t>(value));
  append_bytes_field(proto, tensor_field::kInt, packed);
  return proto;
}

Site::Site(Rewriting& rewriting, std::string bytes) : in(rewriting), node_def(std::move(bytes)) {
  const NodeHead head = node_head(node_def);
  name = head.name;
  op = head.op;
  device = head.device;
  for (std::string& input : inputs_of(node_def))
    (input.starts_with('^') ? controls : inputs).push_back(std::move(input));
}

bool Site::flag(std::string_view key, bool otherwise) const {
  const auto value = find_attr(node_def, key);
  return value ? last_varint(*value, attr_field::kBool) != 0 : otherwise;
}

float Site::number(std::string_view key, float otherwise) const {
  const auto value = find_attr(node_def, key);
  if (!value) return otherwise;
  float found = 0;
  for (Fields fields(*value); fields.next();) {
    if (fields->number == attr_field::kFloat && fields->value.size() == 4)
      std::memcpy(&found, fields->value.data(), 4);
  }
  return found;
}

std::string Site::text(std::string_view key, std::string_view otherwise) const {
  return std::string(string_attr(node_def, key).value_or(otherwise));
}

std::vector<std::string> Site::texts(std::string_view key) const {
  std::vector<std::string> found;
  const auto value = find_attr(node_def, key);
  if (!value) return found;
  for (Fields list(last_bytes(*value, attr_field::kList)); list.next();) {
    if (list->bytes(attr_field::kString)) found.emplace_back(list->value);
  }
  return found;
}

std::vector<int64_t> Site::integers(std::string_view key) const {
  const auto value = find_attr(node_def, key);
  return value ? int_list(*value) : std::vector<int64_t>();
}

std::optional<std::vector<double>> Site::constant(size_t slot) const {
  if (slot >= inputs.size()) return std::nullopt;
  const NodeId id = in.producer(inputs[slot]);
  if (id == kNoNode || !is_const_op(node_op(in.graph().bytes(id)))) return std::nullopt;
  const std::string_view producer = in.graph().bytes(id);
  const auto value = find_attr(producer, "value");
  const Shape shape = output_shape(producer, 0);
  if (!value || !shape) return std::nullopt;
  uint64_t elements = 1;
  for (const int64_t size : *shape) {
    if (size < 0 || size > static_cast<int64_t>(kMostConstElements)) return std::nullopt;
    elements *= static_cast<uint64_t>(size);
    if (elements > kMostConstElements) return std::nullopt;
  }
  const DType type = type_attr(producer, "dtype").value_or(DType::kInvalid);
  if (dtype_width(type) == 0) return std::nullopt;
  const std::string bytes =
      tensor_proto_values(last_bytes(*value, attr_field::kTensor), type, elements, false);
  std::vector<double> numbers;
  for (uint64_t i = 0; i < elements; ++i) {
    const auto number = element(type, bytes, i);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<std::vector<std::string>> Site::string_constant(size_t slot) const {
  const NodeId id = slot < inputs.size() ? in.producer(inputs[slot]) : kNoNode;
  if (id == kNoNode || !is_const_op(node_op(in.graph().bytes(id)))) return std::nullopt;
  return string_const(in.graph().bytes(id), 4096);
}

bool Site::all(size_t slot, double value) const {
  const auto numbers = constant(slot);
  if (!numbers) return false;
  for (const double number : *numbers) {
    if (number != value) return false;
  }
  return true;
}

std::string Site::add(std::string_view word, std::string_view new_op,
                      const std::vector<std::string>& new_inputs,
                      const std::vector<std::pair<std::string, std::string>>& attrs) {
  const std::string free = in.free_name(std::string(name).append("/").append(word));
  NodeBuilder node(free, new_op);
  for (const std::string& input : new_inputs) node.input(input);
  if (new_inputs.empty() && !inputs.empty()) {
    const Input first = parse_input_of(in.graph(), inputs[0]);
    if (in.producer(inputs[0]) != kNoNode) node.input("^" + std::string(first.node));
  }
  node.device(device);
  for (const auto& [key, value] : attrs) node.attr(key, value);
  in.add(node.take());
  return free;
}

std::string Site::add_tensor(std::string_view word, std::string_view new_op,
                             const std::vector<std::string>& new_inputs,
                             const std::vector<std::pair<std::string, std::string>>& attrs) {
  return in.output(add(word, new_op, new_inputs, attrs), new_op, 0);
}

std::string Site::add_const(std::string_view word, DType type, std::string_view tensor_proto) {
  return add_tensor(word, "Const", {}, {{"dtype", type_value(type)}, {"value", tensor_value(tensor_proto)}});
}

void Site::become(const Node& node) {
  NodeBuilder builder(name, node.op);
  for (const std::string& input : node.inputs) builder.input(input);
  for (const std::string& control : controls) builder.input(control);
  builder.device(device);
  for (const auto& [key, value] : node.attrs) builder.attr(key, value);
  each_attr(node_def, [&](std::string_view key, std::string_view value) {
    if (key.starts_with('_') && (node.same_outputs || key != kShapes)) builder.attr(key, value);
  });
  result_ = builder.take();
  result_op_ = node.op;
  if (in.graph().is_body() && node.same_outputs) {
    const size_t outputs = parse_op_def(in.ops().find(op)).outputs.size();
    for (uint32_t i = 0; i < outputs; ++i) move_output(i, i);
  }
}

void Site::take_inputs(std::vector<std::string> other, std::string_view without, const NodeAttrs& with) {
  NodeAttrs attrs;
  each_attr(node_def, [&](std::string_view key, std::string_view value) {
    if (key.starts_with('_') || key == without) return;
    const auto found = std::ranges::find(with, key, &NodeAttrs::value_type::first);
    attrs.emplace_back(key, found != with.end() ? found->second : std::string(value));
  });
  become({.op = std::string(op), .inputs = std::move(other), .attrs = attrs});
}

void Site::rename_op(std::string_view new_op, const std::vector<std::string_view>& without,
                     const std::vector<std::pair<std::string, std::string>>& with) {
  std::string node;
  for (Fields fields(node_def); fields.next();) {
    if (fields->bytes(node_field::kOp)) {
      append_bytes_field(node, node_field::kOp, new_op);
      continue;
    }
    if (fields->bytes(node_field::kAttr)) {
      const std::string_view key = map_key(fields->value);
      bool dropped = false;
      for (const std::string_view one : without) dropped = dropped || one == key;
      if (dropped) continue;
    }
    node += fields->raw;
  }
  for (const auto& [key, value] : with)
    append_bytes_field(node, node_field::kAttr, map_entry_bytes(key, value));
  result_ = std::move(node);
  result_op_ = new_op;
  if (in.graph().is_body()) {
    const size_t outputs = parse_op_def(in.ops().find(new_op)).outputs.size();
    for (uint32_t i = 0; i < outputs; ++i) move_output(i, i);
  }
}

void Site::move_output(uint32_t from, uint32_t to) { move_output(from, in.output(name, result_op_, to)); }

void Site::move_output(uint32_t from, const std::string& tensor) {
  const std::string before = in.canonical(in.output(name, op, from));
  if (before != in.canonical(tensor)) in.redirect(before, tensor);
}

void Site::remove() {
  std::vector<std::string> waits;
  for (const std::string& input : inputs) waits.emplace_back(parse_input_of(in.graph(), input).node);
  for (const std::string& control : controls) waits.push_back(control.substr(1));
  in.remove(in.names().find(name), std::move(waits));
  removed_ = true;
}

}  // namespace gedit
