#include "fold/affine.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fold/elementwise.h"
#include "fold/rule.h"

namespace gedit::folding {
namespace {

constexpr uint64_t kMostNumbers = uint64_t{1} << 20;
constexpr auto kComputed = std::to_array<std::string_view>(
    {"Add", "AddV2", "ExpandDims", "Mul", "RealDiv", "Reshape", "Square", "Squeeze", "Sub"});
constexpr auto kPassed = std::to_array<std::string_view>({"Identity", "Snapshot", "StopGradient"});

bool is_one_of(std::span<const std::string_view> ops, std::string_view op) {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

NodeId producer_of(const Graph& graph, const Names& names, std::string_view text) {
  const Input input = parse_input(text);
  if (input.control || input.index() != 0) return kNoNode;
  const NodeId id = names.find(input.node);
  return id == kNoNode || graph.removed(id) ? kNoNode : id;
}

// The inputs, none where a control input is among them.
std::vector<std::string_view> only_data(std::string_view node_def) {
  std::vector<std::string_view> inputs = input_views(node_def);
  for (const std::string_view input : inputs) {
    if (input.starts_with('^')) return {};
  }
  return inputs;
}

std::optional<ConstTensor> as_doubles(const ConstTensor& value) {
  if (value.dtype() == DType::kInt32 || value.dtype() == DType::kInt64) return value;  // sizes, axes
  if (value.dtype() != DType::kFloat && value.dtype() != DType::kDouble) return std::nullopt;
  if (value.count() > kMostNumbers) return std::nullopt;
  if (value.dtype() == DType::kDouble) return value;
  std::string bytes;
  for (uint64_t i = 0; i < value.held(); ++i) append_number(bytes, static_cast<double>(value.as<float>(i)));
  return ConstTensor::owning(DType::kDouble, value.shape(), std::move(bytes));
}

template <typename Compute>
ConstTensor each_double(const ConstTensor& value, Compute compute) {
  std::string bytes;
  for (uint64_t i = 0; i < value.held(); ++i)
    append_number(bytes, static_cast<double>(compute(value.as<double>(i))));
  return ConstTensor::owning(DType::kDouble, value.shape(), std::move(bytes));
}

std::optional<ConstTensor> computed(std::string_view node_def, const std::vector<ConstTensor>& inputs) {
  const std::string_view op = node_op(node_def);
  const bool number = !inputs.empty() && inputs[0].dtype() == DType::kDouble;
  if (!number) return std::nullopt;
  if (is_one_of(kPassed, op)) return inputs[0];
  if (op == "Neg") return each_double(inputs[0], [](double x) { return -x; });
  if (op == "Sqrt") return each_double(inputs[0], [](double x) { return std::sqrt(x); });
  if (op == "Rsqrt") return each_double(inputs[0], [](double x) { return 1.0 / std::sqrt(x); });
  if (op == "Reciprocal" || op == "Inv") return each_double(inputs[0], [](double x) { return 1.0 / x; });
  if (!is_one_of(kComputed, op)) return std::nullopt;
  const bool arranges = op == "Reshape" || op == "ExpandDims" || op == "Squeeze";
  for (size_t i = 1; i < inputs.size(); ++i) {
    if ((inputs[i].dtype() == DType::kDouble) == arranges) return std::nullopt;
  }
  try {
    FoldTask task(node_def, inputs, kMostNumbers * sizeof(double));
    fold_rule_of(op)(task);
    if (task.outputs.size() == 1) return task.outputs[0];
  } catch (const NotFolded&) {
  }
  return std::nullopt;
}

bool is_evaluated(std::string_view op) {
  return op == "Neg" || op == "Sqrt" || op == "Rsqrt" || op == "Reciprocal" || op == "Inv" ||
         is_one_of(kPassed, op) || is_one_of(kComputed, op);
}

}  // namespace

std::optional<ConstTensor> constant_in_double(const Graph& graph, const Names& names,
                                              std::string_view input) {
  constexpr size_t kMostNodes = 64;
  // A node is entered, its inputs are found, and it is computed when it comes up again.
  struct Pending {
    NodeId id;
    std::vector<std::string_view> inputs;
    bool entered = false;
  };
  std::vector<Pending> stack{{producer_of(graph, names, input), {}}};
  std::vector<ConstTensor> values;
  for (size_t visited = 0; !stack.empty();) {
    Pending& top = stack.back();
    if (top.id == kNoNode || ++visited > 2 * kMostNodes) return std::nullopt;
    const std::string_view node = graph.bytes(top.id);
    if (node_op(node) == "Const") {
      const auto value = const_value(node);
      const auto doubles = value ? as_doubles(*value) : std::nullopt;
      if (!doubles) return std::nullopt;
      values.push_back(*doubles);
      stack.pop_back();
      continue;
    }
    if (!top.entered) {
      if (!is_evaluated(node_op(node))) return std::nullopt;
      top.entered = true;
      top.inputs = only_data(node);
      const std::vector<std::string_view> inputs = top.inputs;
      if (inputs.empty() || inputs.size() > 2) return std::nullopt;
      for (size_t i = inputs.size(); i-- > 0;) stack.push_back({producer_of(graph, names, inputs[i]), {}});
      continue;
    }
    const size_t first = values.size() - top.inputs.size();
    const std::vector<ConstTensor> operands(values.begin() + static_cast<ptrdiff_t>(first), values.end());
    const auto value = computed(node, operands);
    if (!value) return std::nullopt;
    values.resize(first);
    values.push_back(*value);
    stack.pop_back();
  }
  if (values.size() != 1 || values[0].dtype() != DType::kDouble) return std::nullopt;
  return values[0];
}

NodeId const_behind(const Graph& graph, const Names& names, std::string_view input) {
  NodeId id = producer_of(graph, names, input);
  for (int steps = 0; steps < 8 && id != kNoNode; ++steps) {
    const std::string_view op = graph.op(id);
    if (op == "Const") return id;
    const auto inputs = only_data(graph.bytes(id));
    if (!is_one_of(kPassed, op) || inputs.size() != 1) return kNoNode;
    id = producer_of(graph, names, inputs[0]);
  }
  return kNoNode;
}

void Affine::multiply(const std::vector<double>& by) {
  scales_ = true;
  for (size_t i = 0; i < scale_.size(); ++i) {
    scale_[i] *= by[by.size() == 1 ? 0 : i];
    shift_[i] *= by[by.size() == 1 ? 0 : i];
  }
}

void Affine::add(const std::vector<double>& what, double sign) {
  shifts_ = true;
  for (size_t i = 0; i < shift_.size(); ++i) shift_[i] += sign * what[what.size() == 1 ? 0 : i];
}

bool Affine::finite() const {
  const auto is_finite = [](double x) { return std::isfinite(x); };
  return std::all_of(scale_.begin(), scale_.end(), is_finite) &&
         std::all_of(shift_.begin(), shift_.end(), is_finite);
}

std::optional<std::vector<double>> by_channel(const ConstTensor& doubles, const Channels& channels) {
  const auto& shape = doubles.shape();
  if (shape.size() > channels.rank || doubles.count() == 0) return std::nullopt;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool along = i + channels.rank - shape.size() == channels.axis;
    if (shape[i] != 1 && (!along || static_cast<uint64_t>(shape[i]) != channels.number)) return std::nullopt;
  }
  std::vector<double> numbers;
  for (uint64_t i = 0; i < doubles.count(); ++i) numbers.push_back(doubles.as<double>(i));
  return numbers;
}

}  // namespace gedit::folding
