// Const nodes and _output_shapes: tensors and shapes that contradict themselves.
#include <limits>

#include "base/size.h"
#include "check/nodes.h"
#include "graph/tensor_layout.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// Placeholders of producers before this leave their shape open by writing a scalar's (ops/array_ops.cc).
constexpr int64_t kScalarIsScalar = 24;

// Elements of a shape that is fully known; nothing with a negative size, or past what memory holds.
std::optional<uint64_t> elements(const std::vector<int64_t>& shape) {
  uint64_t count = 1;
  for (const int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(count, static_cast<uint64_t>(size), &count)) return std::nullopt;
  }
  if (count > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;
  return count;
}

std::string shape_words(const Shape& shape) { return shape ? shape_text(shape) : "[*]"; }

// The shape of the node's own attribute, where TensorFlow's inference takes it for the output's.
Shape inferred(const NodeHead& head, std::string_view node_def, int64_t producer) {
  const bool placeholder = head.op == "Placeholder";
  if (!is(head.op, OpKind::kShapeIsInferred)) return std::nullopt;
  const Shape shape = output_shape(with_attr(node_def, "_output_shapes", std::nullopt), 0);
  if (placeholder && producer < kScalarIsScalar && shape && shape->empty()) return std::nullopt;
  return shape;
}

Shape stated_shape(std::string_view node_def, uint32_t index) {
  return find_attr(node_def, "_output_shapes") ? output_shape(node_def, index) : std::nullopt;
}

// Why TensorShapeProto is no shape; empty where it is one.
std::string proto_fault(std::string_view proto) {
  const bool unknown = last_varint(proto, 3) != 0;
  for (Fields fields(proto); fields.next();) {
    if (!fields->bytes(2)) continue;
    if (unknown) return "has dimensions and an unknown rank";
    const auto size = static_cast<int64_t>(last_varint(fields->value, 1));
    if (size < -1) return "has a dimension of " + std::to_string(size);
  }
  return {};
}

}  // namespace

void check_const(const CheckedGraph& in, NodeId id, const Attrs& attrs, Report& report) {
  std::optional<std::string_view> value;
  std::optional<DType> stated;
  for (const auto& [key, bytes] : attrs) {
    if (key == "value" && has_field(bytes, attr_field::kTensor))
      value = last_bytes(bytes, attr_field::kTensor);
    if (key == "dtype" && has_field(bytes, attr_field::kType))
      stated = static_cast<DType>(last_varint(bytes, attr_field::kType));
  }
  if (!value) return;
  const auto wrong = [&](const std::string& what) { report.add(Rule::kConst, in.subject(id), what); };
  const auto dtype = static_cast<DType>(last_varint(*value, 1));
  if (stated && *stated != dtype)
    return wrong("dtype is " + dtype_name(*stated) + ", the tensor's is " + dtype_name(dtype));
  const std::string_view proto = last_bytes(*value, 2);
  const std::string fault = proto_fault(proto);
  if (!fault.empty()) return wrong("its shape " + fault);
  const Shape shape = parse_shape_proto(proto);
  const std::optional<uint64_t> count = shape ? elements(*shape) : std::nullopt;
  if (!count) return wrong("its shape " + shape_words(shape) + " is not fully known");
  const std::string_view content = last_bytes(*value, 4);
  const size_t width = dtype_width(dtype);
  if (content.empty() || width == 0) return;
  uint64_t needed = 0;
  const bool overflow = __builtin_mul_overflow(*count, uint64_t{width}, &needed);
  if (overflow || content.size() != needed) {
    wrong(std::to_string(content.size()) + " bytes, " + dtype_name(dtype) + shape_words(shape) + " takes " +
          (overflow ? "more than there can be" : std::to_string(needed)));
  }
}

void check_output_shapes(const CheckedGraph& in, NodeId id, const NodeHead& head, std::string_view value,
                         const NodeContext& context, Report& report) {
  const auto wrong = [&](const std::string& what) { report.add(Rule::kOutputShapes, in.subject(id), what); };
  const Field list_field = [&] {
    Field last;
    for (Fields fields(value); fields.next();) last = fields.field();
    return last;
  }();
  // TensorFlow passes over what is no list of shapes, and over shapes behind those of the outputs.
  if (!list_field.bytes(attr_field::kList)) return;
  const size_t outputs = in.outputs_known(id) ? in.outputs(id).size() : std::numeric_limits<size_t>::max();
  size_t count = 0;
  Shape first;
  std::string fault;
  for (Fields list(list_field.value); list.next();) {
    if (!list->bytes(attr_field::kShape)) return;
    if (count < outputs && fault.empty()) {
      fault = proto_fault(list->value);
      if (!fault.empty()) fault = "shape " + std::to_string(count) + " " + fault;
    }
    if (count++ == 0) first = parse_shape_proto(list->value);
  }
  if (!fault.empty()) return wrong(fault);
  if (in.outputs_known(id) && count < outputs)
    return wrong(counted(count, "shape") + " for " + counted_or_no(outputs, "output"));
  if (outputs == 0) return;
  if (!first) return;
  const std::string_view node_def = in.graph.bytes(id);
  const Shape own = inferred(head, node_def, context.producer);
  if (!compatible(own, first))
    return wrong("output 0 is " + shape_words(own) + ", _output_shapes says " + shape_words(first));
  if (!is(head.op, OpKind::kKeepsFirstShape)) return;
  std::string_view text;
  each_input(node_def, [&](std::string_view input) {
    if (text.empty()) text = input;
  });
  const Input input = parse_input(text);
  if (input.control || text.empty()) return;
  const NodeId source = in.producers.complete() ? in.producers.of(id)[0] : in.names.find(input.node);
  if (source == kNoNode) return;
  const std::string_view source_def = in.graph.bytes(source);
  Shape given = stated_shape(source_def, input.index());
  if (!given && input.index() == 0) given = inferred(node_head(source_def), source_def, context.producer);
  if (!compatible(given, first)) {
    wrong("output 0 is " + shape_words(given) + " as input '" + std::string(text) +
          "' is, _output_shapes says " + shape_words(first));
  }
}

}  // namespace gedit
