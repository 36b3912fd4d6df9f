#include "prove/neutral.h"

#include "fold/fold.h"
#include "graph/node.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

bool is_scalar_one(const ProofState& state, ClassId id) {
  const std::optional<folding::ConstTensor> value = state.tensor(id);
  if (!value || value->rank() != 0) return false;
  switch (value->dtype()) {
    case DType::kFloat:
      return value->as<float>(0) == 1;
    case DType::kDouble:
      return value->as<double>(0) == 1;
    case DType::kHalf:
      return value->as<uint16_t>(0) == 0x3c00;
    case DType::kBfloat16:
      return value->as<uint16_t>(0) == 0x3f80;
    case DType::kInt32:
      return value->as<int32_t>(0) == 1;
    case DType::kInt64:
      return value->as<int64_t>(0) == 1;
    default:
      return false;
  }
}

bool is_whole_zero(const ProofState& state, ClassId id) {
  const std::optional<folding::ConstTensor> value = state.tensor(id);
  if (!value || value->rank() != 0) return false;
  return value->dtype() == DType::kInt32   ? value->as<int32_t>(0) == 0
         : value->dtype() == DType::kInt64 ? value->as<int64_t>(0) == 0
                                           : false;
}

}  // namespace

std::optional<size_t> given_input(const ProofState& state, std::string_view op, std::string_view node_def,
                                  std::span<const uint32_t> inputs) {
  if (inputs.size() == 1 && op == "AddN") return 0;
  if (inputs.size() == 1 && op == "Cast") {
    const auto from = type_attr(node_def, "SrcT"), to = type_attr(node_def, "DstT");
    return from && from == to ? std::optional<size_t>(0) : std::nullopt;
  }
  if (inputs.size() != 2) return std::nullopt;
  if (op == "Transpose") {
    const std::optional<folding::ConstTensor> axes = state.tensor(inputs[1]);
    return axes && folding::moves_no_axis(*axes) ? std::optional<size_t>(0) : std::nullopt;
  }
  if (op == "Split") return int_attr(node_def, "num_split") == 1 ? std::optional<size_t>(1) : std::nullopt;
  if (op == "Concat") return 1;
  return op == "ConcatV2" ? std::optional<size_t>(0) : std::nullopt;
}

std::optional<ClassId> undone(const ProofState& state, const ProofOp& op, std::string_view node_def,
                              std::span<const uint32_t> inputs) {
  const auto inner = [&]() -> std::span<const uint32_t> {
    const Label& label = state.classes.label_of(inputs[0]);
    const std::span<const uint32_t> within = state.classes.inputs(inputs[0]);
    return label.form == KeyForm::kNode && op_of(label) == op.name && within.size() == inputs.size()
               ? within
               : std::span<const uint32_t>();
  };
  if (inputs.size() == 1 && folding::undoes_itself(op.kinds, node_def)) {
    const std::span<const uint32_t> within = inner();
    return within.empty() ? std::nullopt : std::optional(within[0]);
  }
  if (inputs.size() != 2) return std::nullopt;
  if (op.name == "Transpose") {
    const std::span<const uint32_t> within = inner();
    if (within.empty()) return std::nullopt;
    const std::optional<folding::ConstTensor> first = state.tensor(within[1]),
                                              second = state.tensor(inputs[1]);
    return first && second && folding::turn_back(*first, *second) ? std::optional(within[0]) : std::nullopt;
  }
  const bool sum = op.kinds.has(OpKind::kAdds);
  if (!sum && op.name != "Sub") return std::nullopt;
  if (is_whole_zero(state, inputs[1])) return inputs[0];
  return sum && is_whole_zero(state, inputs[0]) ? std::optional<ClassId>(inputs[1]) : std::nullopt;
}

std::optional<ClassId> scaled_by_one(const ProofState& state, std::string_view op,
                                     std::span<const uint32_t> inputs) {
  const bool product = op == "Mul";
  if (inputs.size() != 2 || (!product && op != "RealDiv" && op != "Div")) return std::nullopt;
  if (is_scalar_one(state, inputs[1])) return inputs[0];
  if (product && is_scalar_one(state, inputs[0])) return inputs[1];
  return std::nullopt;
}

std::optional<ClassId> scaled_by_one(const ProofState& state, ClassId id) {
  const Classes& classes = state.classes;
  return scaled_by_one(state, op_of(classes.label_of(id)), classes.inputs(id));
}

bool stays_scaled_by_one(const ProofState& state, ClassId id, ClassId one) {
  const Classes& classes = state.classes;
  const DType dtype = state.tensor(one)->dtype();
  if (dtype == DType::kInt32 || dtype == DType::kInt64) return true;
  // One with a seed is told from all others.
  if (classes.label_of(id).form == KeyForm::kOwn) id = classes.inputs(id)[0];
  return kinds_of(op_of(classes.label_of(id))).has(OpKind::kDrawsUniform);
}

}  // namespace gedit
