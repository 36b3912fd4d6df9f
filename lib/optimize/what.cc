#include "optimize/what.h"

#include <algorithm>
#include <array>

namespace gedit::optimizing {
namespace {

struct WhatRow {
  std::string_view op;
  What what;
};

// Sorted.
constexpr std::array kWhatRows = std::to_array<WhatRow>({
    {"Add", What::kAdd},
    {"AddN", What::kAddN},
    {"AddV2", What::kAdd},
    {"Assert", What::kAssert},
    {"AudioSummary", What::kSummary},
    {"AudioSummaryV2", What::kSummary},
    {"BroadcastTo", What::kBroadcastTo},
    {"Cast", What::kCast},
    {"CheckNumerics", What::kCheckNumerics},
    {"CheckNumericsV2", What::kCheckNumerics},
    {"Concat", What::kConcat},
    {"ConcatV2", What::kConcatV2},
    {"ControlTrigger", What::kControlTrigger},
    {"Div", What::kDivide},
    {"Fill", What::kFill},
    {"Floor", What::kFloor},
    {"Greater", What::kGreater},
    {"GreaterEqual", What::kGreaterEqual},
    {"HistogramSummary", What::kSummary},
    {"Identity", What::kIdentity},
    {"IdentityN", What::kIdentityN},
    {"ImageSummary", What::kSummary},
    {"Less", What::kLess},
    {"LessEqual", What::kLessEqual},
    {"LogicalAnd", What::kAnd},
    {"LogicalNot", What::kNot},
    {"LogicalOr", What::kOr},
    {"Maximum", What::kExtremum},
    {"MergeSummary", What::kSummary},
    {"Minimum", What::kExtremum},
    {"Mul", What::kMultiply},
    {"Neg", What::kNegative},
    {"OnesLike", What::kOnesLike},
    {"Pad", What::kPad},
    {"PreventGradient", What::kIdentity},
    {"Print", What::kPrint},
    {"PrintV2", What::kPrintV2},
    {"RealDiv", What::kDivide},
    {"Reshape", What::kReshape},
    {"ScalarSummary", What::kSummary},
    {"Select", What::kSelect},
    {"SelectV2", What::kSelectV2},
    {"Shape", What::kShape},
    {"Slice", What::kSlice},
    {"Snapshot", What::kIdentity},
    {"Split", What::kSplit},
    {"Squeeze", What::kSqueeze},
    {"StatelessCase", What::kStatelessCase},
    {"StatelessIf", What::kStatelessIf},
    {"StopGradient", What::kIdentity},
    {"Sub", What::kSubtract},
    {"TensorArrayCloseV3", What::kArray},
    {"TensorArrayConcatV3", What::kArray},
    {"TensorArrayGatherV3", What::kArray},
    {"TensorArrayGradV3", What::kArray},
    {"TensorArrayReadV3", What::kArray},
    {"TensorArrayScatterV3", What::kArray},
    {"TensorArraySizeV3", What::kArray},
    {"TensorArraySplitV3", What::kArray},
    {"TensorArrayWriteV3", What::kArray},
    {"TensorSummary", What::kSummary},
    {"TensorSummaryV2", What::kSummary},
    {"Tile", What::kTile},
    {"Transpose", What::kTranspose},
    {"WriteAudioSummary", What::kSummary},
    {"WriteGraphSummary", What::kSummary},
    {"WriteHistogramSummary", What::kSummary},
    {"WriteImageSummary", What::kSummary},
    {"WriteRawProtoSummary", What::kSummary},
    {"WriteScalarSummary", What::kSummary},
    {"WriteSummary", What::kSummary},
    {"ZerosLike", What::kZerosLike},
    {"_SwitchN", What::kSwitchN},
});
static_assert(std::ranges::is_sorted(kWhatRows, {}, &WhatRow::op));

// Ops that the rules know by their kind; others they know by what they are.
constexpr OpKinds kJudged = OpKind::kSwitch | OpKind::kMerge | OpKind::kExit | OpKind::kLoopCond |
                            OpKind::kIf | OpKind::kCase | OpKind::kWhile | OpKind::kNoOp;

// Control flow, and what is told apart by more than what it computes.
constexpr OpKinds kNeverShared = OpKind::kPlaceholder | OpKind::kMerge | OpKind::kEnter | OpKind::kExit |
                                 OpKind::kNextIteration | OpKind::kLoopCond | OpKind::kCall | OpKind::kIf |
                                 OpKind::kCase | OpKind::kWhile | OpKind::kNoOp | OpKind::kPython;

}  // namespace

What what_of(std::string_view op) {
  const auto* row = std::ranges::lower_bound(kWhatRows, op, {}, &WhatRow::op);
  return row != kWhatRows.end() && row->op == op ? row->what : What::kOther;
}

Asks asks_of(const ProofOp& op, What what) {
  const bool judged = op.kinds.has_any(kJudged), other = what == What::kOther;
  const bool pure = op.conduct == Conduct::kPure || op.conduct == Conduct::kPasses;
  Asks asks;
  asks.values = !other || op.conduct == Conduct::kPasses ||
                op.kinds.has_any(OpKind::kConst | OpKind::kDrawsUniform | OpKind::kEnter);
  asks.shape = asks.values || op.kinds.has_any(OpKind::kKeepsShape | OpKind::kKeepsFirstShape);
  asks.branch = judged || what == What::kSelect;
  asks.drop = op.kinds.has(OpKind::kNoOp) || is_looked_through(what);
  asks.dropout =
      what == What::kMultiply || what == What::kDivide || what == What::kSelect || what == What::kSelectV2;
  asks.algebra = judged || !other;
  asks.sharing = op.known && !op.kinds.has_any(kNeverShared) && !op.gives_references && !op.takes_handles &&
                 (op.kinds.has(OpKind::kConst) || (pure && !op.def.is_stateful));
  return asks;
}

}  // namespace gedit::optimizing
