// The table of op kinds, and what makes it fast to ask, computed from its rows.
#include "ops/kinds.h"

#include <algorithm>
#include <array>
#include <utility>

namespace gedit {
namespace {

struct OpRow {
  std::string_view op;  // `*` stands for any text, at any place
  OpKinds kinds;
};

// An op is of the kinds of every row that it matches. Order has no meaning. What the rules mean by a variable
// and a table: docs/rules.md#variables-and-tables.
constexpr std::array kOpRows = [] {
  using enum OpKind;
  return std::to_array<OpRow>({
      {"Const", kConst | kSaverFilename | kShapeIsInferred | kNoResult},
      {"NoOp", kNoOp | kBehindSave | kNoResult},
      {"ControlTrigger", kNoResult | kNeverDead},
      {"Assert", kNoResult | kReadsState},
      {"*Summary*", kNoResult},
      {"Placeholder*", kPlaceholder | kHasShape},
      {"Placeholder", kMustBeFed | kSaverFilename | kShapeIsInferred | kNoResult},
      {"PlaceholderV2", kMustBeFed | kShapeIsInferred | kNoResult},
      {"PlaceholderWithDefault", kPlaceholderWithDefault | kSaverFilename | kNoResult},
      {"PyFunc", kPython},
      {"PyFuncStateless", kPython},
      {"EagerPyFunc", kPython},
      {"Collective*", kCollective},

      {"Identity", kIdentity | kReadsValue | kPassesHandle | kPassesSaved | kPassesSavedInGraph |
                       kBehindSave | kComputesShape | kKeepsShape | kKeepsFirstShape | kGivesInputs |
                       kPassesSizes},
      {"RefIdentity", kRefIdentity | kPassesHandle | kPassesSavedInGraph | kKeepsShape | kGivesInputs},
      {"IdentityN", kPassesHandle | kGivesInputs},
      {"RefSelect", kPassesHandle | kHasNoEffect},

      {"VariableV2",
       kVariable | kReferenceVariable | kKnownByNode | kHasShape | kShapeIsInferred | kNoResult},
      {"Variable",
       kVariable | kReferenceVariable | kKnownByNode | kHasShape | kUnknownShapeIsEmpty | kNoResult},
      {"AutoReloadVariable", kVariable | kReferenceVariable | kKnownByNode | kHasShape | kNoResult},
      {"AddSparseToTensorsMap", kKnownByNode},
      {"AddManySparseToTensorsMap", kKnownByNode},
      {"VarHandleOp", kVariable | kVarHandle | kNoResult},
      {"ReadVariableOp",
       kReadsValue | kReadsHandle | kPassesSaved | kPassesSavedInGraph | kHasDtypeOfVariable | kReadsState},
      {"ResourceGather", kReadsHandle | kHasDtypeOfVariable | kReadsState},
      {"ResourceGatherNd", kReadsHandle | kReadsState},
      {"VariableShape", kReadsHandle | kReadsState},
      {"VarIsInitializedOp", kAsksInitialized | kReadsHandle | kNeedsNoValue | kNoResult | kReadsState},
      {"IsVariableInitialized", kAsksInitialized | kReadsHandle | kNeedsNoValue | kNoResult | kReadsState},
      {"DisableCopyOnRead", kReadsHandle | kNeedsNoValue},
      {"DestroyResourceOp", kNoResult},
      {"TemporaryVariable", kTemporary | kLivesForARun},
      {"DestroyTemporaryVariable", kTemporary},
      {"Assign*", kNoResult},
      {"Assign", kAssign},
      {"AssignVariableOp", kAssign | kTakesRestored | kHasDtypeOfVariable},
      {"AssignAddVariableOp", kHasDtypeOfVariable},
      {"AssignSubVariableOp", kHasDtypeOfVariable},
      {"ScatterAdd", kNoResult},
      {"ScatterDiv", kNoResult},
      {"ScatterMax", kNoResult},
      {"ScatterMin", kNoResult},
      {"ScatterMul", kNoResult},
      {"ScatterSub", kNoResult},
      {"ScatterUpdate", kNoResult},
      {"ScatterNdAdd", kNoResult},
      {"ScatterNdSub", kNoResult},
      {"ScatterNdUpdate", kNoResult},
      {"ResourceScatter*", kNoResult},
      {"*Apply*", kWritesVariable | kNoResult},
      {"Apply*", kApply},
      {"SparseApply*", kApply},
      {"ResourceApply*", kApply},
      {"ResourceSparseApply*", kApply},
      {"*Assign*", kWritesVariable},
      {"*Scatter*", kWritesVariable},
      {"*CountUpTo*", kWritesVariable},

      {"HashTable*", kHashTable},
      {"HashTable", kTable},
      {"HashTableV2", kTable},
      {"Mutable*Table", kTable | kMutableTable},
      {"Mutable*TableV2", kTable | kMutableTable},
      {"MutableHashTableOfTensors*", kTable | kMutableTable},
      {"*Table*", kNamedTable},
      {"InitializeTable*", kTableInitializer | kNoResult},
      {"LookupTableImport*", kTableInitializer | kTableImport | kFillsState | kTakesRestored | kNoResult},
      {"DeserializeIterator", kFillsState},
      {"SummaryWriter", kTable},
      {"CreateSummaryFileWriter", kTableInitializer},
      {"CreateSummaryDbWriter", kTableInitializer},
      {"BoostedTreesEnsembleResourceHandleOp", kTable | kMutableTable},
      {"BoostedTreesCreateEnsemble", kTableInitializer | kNoResult},
      {"BoostedTreesDeserializeEnsemble", kFillsState | kNoResult},
      {"BoostedTreesSerializeEnsemble", kReadsState},
      {"BoostedTreesQuantileStreamResourceHandleOp", kTable | kMutableTable},
      {"BoostedTreesCreateQuantileStreamResource", kTableInitializer | kNoResult},
      {"BoostedTreesQuantileStreamResourceDeserialize", kFillsState | kNoResult},
      {"BoostedTreesQuantileStreamResourceGetBucketBoundaries", kReadsState},
      {"LookupTableExport*", kTableExport},
      {"LookupTableExport", kReadsState},
      {"LookupTableExportV2", kReadsState},
      {"LookupTableFind", kReadsState},
      {"LookupTableFindV2", kReadsState},
      {"LookupTableSize", kReadsState},
      {"LookupTableSizeV2", kReadsState},

      {"SaveV2", kSave | kSaveV2 | kTakesSlices | kNoResult},
      {"Save", kSave | kNoResult},
      {"SaveSlices", kSave | kTakesSlices | kNoResult},
      {"RestoreV2", kRestore | kRestoreV2 | kTakesSlices | kNoResult | kReadsState},
      {"Restore", kRestore | kNoResult | kReadsState},
      {"RestoreSlice", kRestore | kTakesSlices | kNoResult | kReadsState},
      {"MergeV2Checkpoints", kMergeCheckpoints | kBehindSave | kNoResult},
      {"ShardedFilename", kNoResult},

      {"Enter", kEnter | kPassesHandle},
      {"RefEnter", kEnter | kPassesHandle | kHasNoEffect},
      {"Exit", kExit | kPassesHandle},
      {"RefExit", kExit | kPassesHandle | kHasNoEffect},
      {"Merge", kMerge | kPassesHandle},
      {"RefMerge", kMerge | kPassesHandle | kHasNoEffect},
      {"_XlaMerge", kMerge},
      {"Switch", kSwitch | kPassesHandle},
      {"RefSwitch", kSwitch | kPassesHandle | kHasNoEffect},
      {"_SwitchN", kSwitch | kPassesHandle},
      {"NextIteration", kNextIteration | kPassesHandle},
      {"RefNextIteration", kNextIteration | kPassesHandle | kHasNoEffect},
      {"LoopCond", kLoopCond},

      {"*PartitionedCall", kPartitionedCall},
      {"PartitionedCall", kCall | kLocalCall | kHasNoEffect},
      {"StatefulPartitionedCall", kCall | kLocalCall | kHasNoEffect},
      {"TPUPartitionedCall", kCall},
      {"RemoteCall", kCall},
      {"If", kIf | kHasNoEffect},
      {"StatelessIf", kIf},
      {"Case", kCase | kHasNoEffect},
      {"StatelessCase", kCase},
      {"While", kWhile | kHasNoEffect},
      {"StatelessWhile", kWhile},

      {"Iterator", kIterator},
      {"IteratorV2", kIterator},
      {"OneShotIterator", kIterator},
      {"IteratorFromStringHandle", kTakesFromIterator},
      {"IteratorFromStringHandleV2", kTakesFromIterator},
      {"IteratorGet*", kTakesFromIterator},
      {"IteratorToStringHandle", kTakesFromIterator},
      {"*Queue", kQueue},
      {"*QueueV2", kQueue},
      {"*Queue*", kNoResult},
      {"*Reader", kReader},
      {"*ReaderV2", kReader},
      {"Barrier", kHoldsState},
      {"ConditionalAccumulator", kHoldsState},
      {"FIFOQueue", kHoldsState},
      {"FIFOQueueV2", kHoldsState},
      {"FixedLengthRecordReader", kHoldsState},
      {"FixedLengthRecordReaderV2", kHoldsState},
      {"IdentityReader", kHoldsState},
      {"IdentityReaderV2", kHoldsState},
      {"Iterator", kHoldsState},
      {"IteratorV2", kHoldsState},
      {"MutexV2", kHoldsState},
      {"PaddingFIFOQueue", kHoldsState},
      {"PaddingFIFOQueueV2", kHoldsState},
      {"PriorityQueue", kHoldsState},
      {"PriorityQueueV2", kHoldsState},
      {"RandomShuffleQueue", kHoldsState},
      {"RandomShuffleQueueV2", kHoldsState},
      {"SparseConditionalAccumulator", kHoldsState},
      {"TFRecordReader", kHoldsState},
      {"TFRecordReaderV2", kHoldsState},
      {"TextLineReader", kHoldsState},
      {"TextLineReaderV2", kHoldsState},
      {"WholeFileReader", kHoldsState},
      {"WholeFileReaderV2", kHoldsState},

      {"*Dataset*", kDataset},
      {"TensorArray*", kTensorArray},
      {"TensorArrayGrad*", kTensorArrayGradient},
      {"TensorArrayRead*", kTakesElement},
      {"TensorArrayScatter*", kWritesElements},
      {"TensorArraySplit*", kWritesElements},
      {"TensorArrayUnpack*", kWritesElements},
      {"TensorArrayWrite*", kTakesElement | kWritesElements},
      {"Stack", kLivesForARun},
      {"StackV2", kLivesForARun},
      {"TensorArrayV3", kMakesTensorArray | kLivesForARun},
      {"TensorArrayGradV3", kMakesTensorArray | kReadsState},
      {"TensorArrayCloseV3", kReadsState},
      {"TensorArrayConcatV3", kReadsState},
      {"TensorArrayGatherV3", kReadsState},
      {"TensorArrayReadV3", kReadsState},
      {"TensorArrayScatterV3", kReadsState},
      {"TensorArraySizeV3", kReadsState},
      {"TensorArraySplitV3", kReadsState},
      {"TensorArrayWriteV3", kReadsState},

      {"DeviceIndex", kDrawsNumbers},
      {"Empty", kDrawsNumbers},
      {"GraphDefVersion", kDrawsNumbers},
      {"NonDeterministicInts", kDrawsNumbers},
      {"Skipgram", kDrawsNumbers},
      {"Timestamp", kDrawsNumbers},
      {"RandomUniform", kDrawsUniform},
      {"StatelessRandomUniform", kDrawsUniform},
      {"StatelessRandomGetAlg", kHasNoEffect},
      {"StatelessRandomGetKeyCounter", kMakesSeedKey},
      {"StatelessRandomGetKeyCounterAlg", kMakesSeedKey},
      {"StatelessRandomNormalV2", kDrawsByKey},
      {"StatelessRandomUniformFullIntV2", kDrawsByKey},
      {"StatelessRandomUniformIntV2", kDrawsByKey},
      {"StatelessRandomUniformV2", kDrawsByKey | kDrawsUniform},
      {"StatelessTruncatedNormalV2", kDrawsByKey},
      {"InplaceAdd", kWritesInput},
      {"InplaceSub", kWritesInput},
      {"InplaceUpdate", kWritesInput},
      {"PrintV2", kReadsState},
      {"Add", kComputesAnew | kAdds | kCommutes},
      {"AddV2", kComputesAnew | kAdds | kCommutes},
      {"Sub", kComputesAnew},
      {"Div", kComputesAnew},
      {"RealDiv", kComputesAnew},
      {"FloorDiv", kComputesAnew},
      {"FloorMod", kComputesAnew},
      {"Maximum", kComputesAnew},
      {"Minimum", kComputesAnew},
      {"Pow", kComputesAnew},
      {"SquaredDifference", kComputesAnew},
      {"Reciprocal", kComputesAnew},
      {"MatMul", kComputesAnew},
      {"BatchMatMul", kComputesAnew},
      {"BatchMatMulV2", kComputesAnew},
      {"Conv2D", kComputesAnew},
      {"Conv2DBackpropInput", kComputesAnew},
      {"Conv2DBackpropFilter", kComputesAnew},
      {"BiasAdd", kComputesAnew},
      {"BiasAddGrad", kComputesAnew},
      {"SoftmaxCrossEntropyWithLogits", kComputesAnew},
      {"SparseSoftmaxCrossEntropyWithLogits", kComputesAnew},
      {"ReluGrad", kComputesAnew},
      {"Relu6Grad", kComputesAnew},
      {"TanhGrad", kComputesAnew},
      {"SigmoidGrad", kComputesAnew},
      {"SqrtGrad", kComputesAnew},
      {"RsqrtGrad", kComputesAnew},
      {"EluGrad", kComputesAnew},
      {"Equal", kComputesAnew},
      {"NotEqual", kComputesAnew},
      {"Greater", kComputesAnew},
      {"GreaterEqual", kComputesAnew},
      {"Less", kComputesAnew},
      {"LessEqual", kComputesAnew},
      {"LogicalAnd", kComputesAnew},
      {"LogicalOr", kComputesAnew},
      {"Shape", kComputesAnew},
      {"ShapeN", kComputesAnew},
      {"Size", kComputesAnew},
      {"Rank", kComputesAnew},
      {"OneHot", kComputesAnew},
      {"ArgMax", kComputesAnew},
      {"Bitcast", kGivesView},
      {"ExpandDims", kGivesView | kPassesSizes},
      {"Slice", kGivesView | kOnlyChangesShape},
      {"Split", kGivesView},
      {"SplitV", kGivesView},
      {"Squeeze", kGivesView | kOnlyChangesShape},
      {"StridedSlice", kGivesView | kPicksElements},
      {"Unpack", kGivesView},
      {"Gather", kComputesAnew | kPicksElements},
      {"GatherV2", kComputesAnew | kPicksElements},
      {"BroadcastTo", kOnlyChangesShape},
      {"Pad", kOnlyChangesShape},
      {"Tile", kOnlyChangesShape},
      {"DynamicStitch", kShapedOtherwise},
      {"FusedBatchNormGrad", kShapedOtherwise},
      {"FusedBatchNormGradV2", kShapedOtherwise},
      {"FusedBatchNormGradV3", kShapedOtherwise},
      {"ParallelDynamicStitch", kShapedOtherwise},
      {"UniqueV2", kShapedOtherwise},
      {"UniqueWithCountsV2", kShapedOtherwise},

      {"Pack", kBehindSave | kComputesShape | kPassesSizes},
      {"Concat", kComputesShape},
      {"ConcatV2", kComputesShape | kPassesSizes},
      {"Prod", kComputesShape},
      {"Mul", kComputesAnew | kComputesShape | kCommutes},
      {"Cast", kPassesSaved | kPassesSavedInGraph | kComputesShape | kPassesSizes},
      {"Reshape", kPassesSavedInGraph | kGivesView | kOnlyChangesShape},
      {"Abs", kComputesAnew | kKeepsShape | kKeepsFirstShape},
      {"Ceil", kComputesAnew | kKeepsShape},
      {"CheckNumerics", kKeepsShape | kKeepsFirstShape | kGivesInputs},
      {"CheckNumericsV2", kKeepsShape | kGivesInputs},
      {"DebugIdentity", kKeepsShape},
      {"DebugIdentityV2", kKeepsShape | kGivesInputs},
      {"DeepCopy", kKeepsShape | kGivesInputs},
      {"EnsureShape", kGivesInputs},
      {"Elu", kComputesAnew | kKeepsShape | kKeepsFirstShape | kFusedActivation},
      {"Exp", kComputesAnew | kKeepsShape | kKeepsFirstShape},
      {"FakeQuantWithMinMaxArgs", kKeepsShape},
      {"Floor", kComputesAnew | kKeepsShape},
      {"GuaranteeConst", kKeepsShape | kGivesInputs},
      {"LeakyRelu", kKeepsShape | kFusedActivation},
      {"Log", kComputesAnew | kKeepsShape | kKeepsFirstShape},
      {"LogSoftmax", kComputesAnew | kKeepsShape | kKeepsFirstShape},
      {"LogicalNot", kComputesAnew | kKeepsShape | kKeepsFirstShape | kUndoesItself},
      {"Neg", kComputesAnew | kKeepsShape | kKeepsFirstShape | kUndoesItself},
      {"OnesLike", kKeepsShape},
      {"PreventGradient", kPassesSaved | kPassesSavedInGraph | kKeepsShape | kKeepsFirstShape | kGivesInputs},
      {"Print", kKeepsShape | kReadsState},
      {"Relu", kComputesAnew | kKeepsShape | kKeepsFirstShape | kFusedActivation},
      {"Relu6", kComputesAnew | kKeepsShape | kKeepsFirstShape | kFusedActivation},
      {"Round", kComputesAnew | kKeepsShape},
      {"Rsqrt", kComputesAnew | kKeepsFirstShape},
      {"Selu", kKeepsShape | kKeepsFirstShape},
      {"Sigmoid", kComputesAnew | kKeepsShape | kKeepsFirstShape | kFusedActivation},
      {"Sign", kComputesAnew | kKeepsShape | kKeepsFirstShape},
      {"Snapshot", kKeepsShape | kGivesInputs},
      {"Softmax", kComputesAnew | kKeepsShape | kKeepsFirstShape},
      {"Softplus", kComputesAnew | kKeepsShape | kKeepsFirstShape},
      {"Softsign", kKeepsShape | kKeepsFirstShape},
      {"Sqrt", kComputesAnew | kKeepsShape | kKeepsFirstShape},
      {"Square", kComputesAnew | kKeepsShape | kKeepsFirstShape},
      {"StopGradient", kPassesSaved | kPassesSavedInGraph | kKeepsShape | kKeepsFirstShape | kGivesInputs},
      {"Tanh", kComputesAnew | kKeepsShape | kKeepsFirstShape | kFusedActivation},
      {"ZerosLike", kKeepsShape | kKeepsFirstShape},
  });
}();

constexpr size_t kRowCount = kOpRows.size(), kKindCount = static_cast<size_t>(OpKind::kCount);

// A row's text, taken apart at its stars: `head`, `head*`, `*tail`, `head*tail`, `*middle*`.
struct OpPattern {
  std::string_view head, middle, tail;
  bool exact = false;

  constexpr explicit OpPattern(std::string_view text = {}) : exact(true) {
    const size_t first = text.find('*'), last = text.rfind('*');
    head = text.substr(0, first);
    if (first == std::string_view::npos) return;
    exact = false;
    tail = text.substr(last + 1);
    if (last > first) middle = text.substr(first + 1, last - first - 1);
  }

  constexpr size_t shortest() const { return head.size() + middle.size() + tail.size(); }
  constexpr bool matches(std::string_view op) const {
    if (exact) return op == head;
    return op.size() >= shortest() && op.starts_with(head) && op.ends_with(tail) &&
           (middle.empty() || op.find(middle, head.size()) != std::string_view::npos);
  }
};

constexpr std::array<OpPattern, kRowCount> kOpPatterns = [] {
  std::array<OpPattern, kRowCount> patterns;
  for (size_t i = 0; i < kRowCount; ++i) patterns[i] = OpPattern(kOpRows[i].op);
  return patterns;
}();

using OpRowNumber = uint16_t;
static_assert(kRowCount <= UINT16_MAX);

// Some rows, and which lengths and first bytes an op has that may match one of them.
class RowSet {
 public:
  constexpr void add(size_t row) {
    const OpPattern& pattern = kOpPatterns[row];
    const uint64_t shortest = length_bit(pattern.shortest());
    lengths_ |= pattern.exact ? shortest : ~(shortest - 1);
    if (pattern.head.empty()) {
      firsts_.fill(~uint64_t{0});
    } else {
      const auto first = static_cast<unsigned char>(pattern.head[0]);
      firsts_[first / 64] |= uint64_t{1} << first % 64;
    }
    ++size_;
  }
  constexpr bool may_hold(std::string_view op) const {
    if ((lengths_ & length_bit(op.size())) == 0 || op.empty()) return false;
    const auto first = static_cast<unsigned char>(op[0]);
    return (firsts_[first / 64] >> first % 64 & 1) != 0;
  }
  constexpr size_t size() const { return size_; }

  uint16_t begin = 0;  // of its rows in kRowsOfKinds

 private:
  static constexpr uint64_t length_bit(size_t length) { return uint64_t{1} << std::min<size_t>(length, 63); }

  uint64_t lengths_ = 0;
  std::array<uint64_t, 4> firsts_{};
  uint16_t size_ = 0;
};

constexpr std::array<RowSet, kKindCount> kRowSets = [] {
  std::array<RowSet, kKindCount> sets;
  uint16_t begin = 0;
  for (size_t kind = 0; kind < kKindCount; ++kind) {
    sets[kind].begin = begin;
    for (size_t row = 0; row < kRowCount; ++row) {
      if (kOpRows[row].kinds.has(static_cast<OpKind>(kind))) sets[kind].add(row);
    }
    begin = static_cast<uint16_t>(begin + sets[kind].size());
  }
  return sets;
}();

constexpr std::array kRowsOfKinds = [] {
  std::array<OpRowNumber, kRowSets.back().begin + kRowSets.back().size()> rows{};
  size_t at = 0;
  for (size_t kind = 0; kind < kKindCount; ++kind) {
    for (size_t row = 0; row < kRowCount; ++row) {
      if (kOpRows[row].kinds.has(static_cast<OpKind>(kind))) rows[at++] = static_cast<OpRowNumber>(row);
    }
  }
  return rows;
}();

constexpr size_t kExactCount = static_cast<size_t>(std::ranges::count_if(kOpPatterns, &OpPattern::exact));

// Rows that name one op, in the order of their names, then those with stars.
constexpr std::array<OpRowNumber, kRowCount> kRowsByOp = [] {
  std::array<OpRowNumber, kRowCount> rows{};
  for (size_t row = 0; row < kRowCount; ++row) rows[row] = static_cast<OpRowNumber>(row);
  std::ranges::sort(
      rows, {}, [](OpRowNumber row) { return std::pair(!kOpPatterns[row].exact, kOpPatterns[row].head); });
  return rows;
}();

}  // namespace

OpKinds kinds_of(std::string_view op) {
  OpKinds kinds;
  const auto stars = kRowsByOp.begin() + kExactCount;
  const auto op_of = [](OpRowNumber row) { return kOpPatterns[row].head; };
  for (auto row = std::ranges::lower_bound(kRowsByOp.begin(), stars, op, {}, op_of);
       row != stars && op_of(*row) == op; ++row)
    kinds = kinds | kOpRows[*row].kinds;
  for (auto row = stars; row != kRowsByOp.end(); ++row) {
    if (kOpPatterns[*row].matches(op)) kinds = kinds | kOpRows[*row].kinds;
  }
  return kinds;
}

bool is(std::string_view op, OpKind kind) {
  const RowSet& rows = kRowSets[static_cast<size_t>(kind)];
  if (!rows.may_hold(op)) return false;
  const OpRowNumber* row = kRowsOfKinds.data() + rows.begin;
  return std::any_of(row, row + rows.size(), [&](OpRowNumber i) { return kOpPatterns[i].matches(op); });
}

}  // namespace gedit
