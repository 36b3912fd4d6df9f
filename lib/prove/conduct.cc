#include "prove/conduct.h"

#include <algorithm>
#include <array>
#include <utility>

#include "ops/kinds.h"

namespace gedit {
namespace {

// Of ops that the definitions call stateful, or that take references, and that are not writers all the same;
// an op is of at most one.
constexpr std::array kConducts = std::to_array<std::pair<OpKind, Conduct>>({
    {OpKind::kHasNoEffect, Conduct::kPure},
    {OpKind::kGivesInputs, Conduct::kPasses},
    {OpKind::kReadsState, Conduct::kReads},
    {OpKind::kHoldsState, Conduct::kState},
    {OpKind::kLivesForARun, Conduct::kFresh},
    {OpKind::kDrawsNumbers, Conduct::kRandom},
    {OpKind::kNeverDead, Conduct::kTriggers},
    {OpKind::kWritesInput, Conduct::kInPlace},
    {OpKind::kPython, Conduct::kUnknown},
});

bool takes_references(const OpDef& op_def) {
  return std::ranges::any_of(op_def.inputs, [](const ArgDef& arg) { return arg.is_ref; });
}

}  // namespace

Conduct conduct_of(std::string_view op, const OpDef* op_def) {
  const OpKinds kinds = kinds_of(op);
  for (const auto& [kind, conduct] : kConducts) {
    if (kinds.has(kind)) return conduct;
  }
  if (op_def == nullptr) return Conduct::kUnknown;
  if (kinds.has_any(OpKind::kVariable | OpKind::kTable)) return Conduct::kState;
  const bool dataset = kinds.has(OpKind::kDataset);
  const bool seeds_itself = dataset || kinds.has_any(OpKind::kQueue | OpKind::kReader);
  if (op_def->find_attr("seed") != nullptr && !seeds_itself) return Conduct::kRandom;
  // The seeds of a dataset are inputs, and may be none.
  const auto seed = [](const ArgDef& arg) { return arg.name == "seed"; };
  if (dataset && std::ranges::any_of(op_def->inputs, seed)) return Conduct::kRandom;
  return op_def->is_stateful || takes_references(*op_def) ? Conduct::kWrites : Conduct::kPure;
}

bool commutes(OpKinds op, DType type) {
  if (!op.has(OpKind::kCommutes)) return false;
  switch (type) {
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kUint8:
    case DType::kUint16:
    case DType::kUint32:
    case DType::kUint64:
      return true;
    default:
      return false;
  }
}

}  // namespace gedit
