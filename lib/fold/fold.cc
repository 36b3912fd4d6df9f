#include "fold/fold.h"

#include <algorithm>
#include <limits>

#include "fold/rule.h"
#include "graph/node.h"
#include "ops/kinds.h"

namespace gedit::folding {
namespace {

FoldOutcome not_folded(std::string why) { return {{}, std::move(why)}; }

// A vector, or a scalar, of sizes as out_type has them.
ConstTensor sizes_as(DType dtype, Sizes shape, const Sizes& sizes) {
  FoldTask::require(dtype == DType::kInt32 || dtype == DType::kInt64, "not of this dtype");
  std::string bytes;
  for (const int64_t size : sizes) {
    FoldTask::require(dtype == DType::kInt64 || size <= std::numeric_limits<int32_t>::max(),
                      "a size is out of the integers' range");
    bytes.append(reinterpret_cast<const char*>(&size), dtype_width(dtype));
  }
  return ConstTensor::owning(dtype, std::move(shape), std::move(bytes));
}

Sizes known_sizes(const Shape& shape) {
  FoldTask::require(shape.has_value(), "a shape is not known");
  for (const int64_t size : *shape) FoldTask::require(size >= 0, "a shape is not known");
  return *shape;
}

void tell_shapes(std::string_view op, FoldTask& task, std::span<const Shape> inputs) {
  FoldTask::require(!inputs.empty(), "an input is missing");
  const DType type = task.type("out_type", DType::kInt32);
  if (op == "Rank") {
    FoldTask::require(inputs[0].has_value(), "a rank is not known");
    return task.give(sizes_as(DType::kInt32, {}, {static_cast<int64_t>(inputs[0]->size())}));
  }
  if (op == "Size") {
    const auto count = elements_of(known_sizes(inputs[0]));
    FoldTask::require(count.has_value(), "a size is out of the integers' range");
    return task.give(sizes_as(type, {}, {static_cast<int64_t>(*count)}));
  }
  for (const Shape& shape : inputs) {
    const Sizes sizes = known_sizes(shape);
    task.give(sizes_as(type, {static_cast<int64_t>(sizes.size())}, sizes));
  }
}

using Elements = std::optional<std::vector<std::optional<int64_t>>>;

std::optional<ConstTensor> tensor_of_elements(DType dtype, const Shape& shape, const Elements& elements) {
  if (!shape || !elements) return std::nullopt;
  const auto count = elements_of(*shape);
  if (!count || *count == 0 || *count != elements->size()) return std::nullopt;
  std::string bytes;
  for (const std::optional<int64_t>& element : *elements) {
    if (!element) return std::nullopt;
    const bool fits =
        *element >= std::numeric_limits<int32_t>::min() && *element <= std::numeric_limits<int32_t>::max();
    if (dtype == DType::kInt32 && !fits) return std::nullopt;
    bytes.append(reinterpret_cast<const char*>(&*element), dtype == DType::kInt32 ? 4 : 8);
  }
  return ConstTensor::owning(dtype, *shape, std::move(bytes));
}

}  // namespace

// What the node's attributes say of the dtypes of its outputs, and how many there are, holds.
FoldOutcome NodeFolder::checked(std::string_view node_def, std::vector<ConstTensor> outputs) {
  std::vector<DType> types;
  const OpDef* op = ops_.find(node_op(node_def));
  if (op == nullptr || !output_types(*op, node_def, types)) return not_folded("the dtypes are not known");
  if (types.size() != outputs.size()) return not_folded("an output more or less than the op has");
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i] != outputs[i].dtype()) return not_folded("an output has another dtype");
    outputs[i] = outputs[i].shortened();
  }
  return {std::move(outputs), {}};
}

FoldOutcome NodeFolder::fold(std::string_view node_def, std::span<const ConstTensor> inputs) {
  const std::string_view name = node_op(node_def);
  if (reads_shapes(name)) {
    std::vector<Shape> shapes;
    for (const ConstTensor& input : inputs) shapes.emplace_back(input.shape());
    return fold_shapes(node_def, shapes);
  }
  const FoldRule rule = fold_rule_of(name);
  if (rule == nullptr) return not_folded("the op is not folded");
  const OpDef* op = ops_.find(name);
  std::vector<DType> types;
  if (op == nullptr || !input_types(*op, node_def, types)) return not_folded("the dtypes are not known");
  if (types.size() != inputs.size()) return not_folded("an input more or less than the op has");
  uint64_t held = 0;
  for (size_t i = 0; i < types.size(); ++i) {
    if (!inputs[i].valid()) return not_folded("an input is not known");
    if (types[i] != inputs[i].dtype()) return not_folded("an input has another dtype");
    held += inputs[i].bytes().size();
    if (inputs[i].strings() != nullptr) held += inputs[i].held() * sizeof(std::string_view);
  }
  FoldTask task(node_def, inputs, std::min(work_left_, held + kMostGrown));
  try {
    rule(task);
  } catch (const NotFolded& reason) {
    work_left_ -= std::min(work_left_, task.work());
    return not_folded(reason.why);
  }
  work_left_ -= std::min(work_left_, task.work());
  return checked(node_def, std::move(task.outputs));
}

FoldOutcome NodeFolder::fold_shapes(std::string_view node_def, std::span<const Shape> inputs) {
  const std::string_view op = node_op(node_def);
  if (!reads_shapes(op)) return not_folded("the op is not folded");
  FoldTask task(node_def, {}, 0);
  try {
    tell_shapes(op, task, inputs);
  } catch (const NotFolded& reason) {
    return not_folded(reason.why);
  }
  return checked(node_def, std::move(task.outputs));
}

bool follows_from_shapes(std::string_view op) { return reads_shapes(op) || is(op, OpKind::kPicksElements); }

namespace {

// What a Transpose takes for its axes, from 0 on each; nothing where it takes none of it.
std::optional<std::vector<uint64_t>> axes_of(const ConstTensor& tensor) {
  const bool wide = tensor.dtype() == DType::kInt64;
  if (tensor.rank() != 1 || (!wide && tensor.dtype() != DType::kInt32)) return std::nullopt;
  const auto rank = static_cast<int64_t>(tensor.count());
  std::vector<uint64_t> axes;
  for (uint64_t i = 0; i < tensor.count(); ++i) {
    const int64_t axis = wide ? tensor.as<int64_t>(i) : tensor.as<int32_t>(i);
    if (axis < -rank || axis >= rank) return std::nullopt;
    axes.push_back(static_cast<uint64_t>(axis < 0 ? axis + rank : axis));
  }
  return axes;
}

}  // namespace

bool undoes_itself(OpKinds kinds, std::string_view node_def) {
  if (!kinds.has(OpKind::kUndoesItself)) return false;
  const std::optional<DType> type = type_attr(node_def, "T");
  return !type || *type == DType::kInt32 || *type == DType::kInt64;
}

bool moves_no_axis(const ConstTensor& axes) {
  const auto known = axes_of(axes);
  uint64_t at = 0;
  return known && std::ranges::all_of(*known, [&](uint64_t axis) { return axis == at++; });
}

bool turn_back(const ConstTensor& first, const ConstTensor& second) {
  const auto inner = axes_of(first), outer = axes_of(second);
  uint64_t at = 0;
  return inner && outer && inner->size() == outer->size() &&
         std::ranges::all_of(*outer, [&](uint64_t axis) { return (*inner)[axis] == at++; });
}

bool only_shapes(std::string_view op) { return is(op, OpKind::kOnlyChangesShape); }

bool has_shape_of(const GraphShapes& shapes, NodeId reader, NodeId giver, bool as_many) {
  const std::vector<TensorFacts> inputs = shapes.inputs(reader);
  const Shape shape = shapes.shape(giver);
  if (inputs.empty() || !inputs[0].shape || !shape || inputs[0].shape->size() != shape->size()) return false;
  const std::vector<uint32_t> symbols = shapes.symbols(giver);
  size_t open = 0, known = 0;  // dimensions
  for (size_t i = 0; i < shape->size(); ++i) {
    if ((*inputs[0].shape)[i] != (*shape)[i]) return false;
    known += (*shape)[i] > 0 ? 1 : 0;
    if ((*shape)[i] >= 0) continue;
    if (i >= symbols.size() || i >= inputs[0].symbols.size() || symbols[i] == 0 ||
        symbols[i] != inputs[0].symbols[i])
      ++open;
  }
  return open == 0 || (as_many && open == 1 && known + open == shape->size());
}

std::optional<ConstTensor> known_value(const GraphShapes& shapes, NodeId id, std::string_view node_def,
                                       NodeFolder& folder) {
  const std::string_view op = node_op(node_def);
  if (reads_shapes(op)) {
    FoldOutcome outcome = folder.fold_shapes(node_def, shapes.input_shapes(id));
    if (outcome.outputs.size() != 1) return std::nullopt;
    return std::move(outcome.outputs[0]);
  }
  const DType dtype = type_attr(node_def, op == "StridedSlice" ? "T" : "Tparams").value_or(DType::kInvalid);
  if (!follows_from_shapes(op) || (dtype != DType::kInt32 && dtype != DType::kInt64)) return std::nullopt;
  return tensor_of_elements(dtype, shapes.shape(id), shapes.elements(id));
}

}  // namespace gedit::folding
