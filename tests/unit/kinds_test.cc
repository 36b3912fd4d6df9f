// Which op is of which kinds: every kind with the ops that are of it and ops that are nearly.
#include "ops/kinds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ops/registry.h"

namespace gedit::kinds_test {

struct KindCase {
  OpKind kind;
  std::vector<std::string_view> are, are_not;
};

const std::vector<KindCase>& kind_cases() {
  using enum OpKind;
  static const std::vector<KindCase> cases{
      {kConst, {"Const"}, {"Cons", "Constant", "HostConst", "const"}},
      {kNoOp, {"NoOp"}, {"NoOpp", "No"}},
      {kIdentity, {"Identity"}, {"RefIdentity", "IdentityN"}},
      {kRefIdentity, {"RefIdentity"}, {"Identity"}},
      {kPlaceholder,
       {"Placeholder", "PlaceholderV2", "PlaceholderWithDefault", "PlaceholderOfMine"},
       {"Placeholde", "MyPlaceholder"}},
      {kMustBeFed, {"Placeholder", "PlaceholderV2"}, {"PlaceholderWithDefault", "PlaceholderOfMine"}},
      {kPlaceholderWithDefault, {"PlaceholderWithDefault"}, {"Placeholder"}},
      {kPython, {"PyFunc", "PyFuncStateless", "EagerPyFunc"}, {"PyFuncs", "EagerPyFuncStateless"}},
      {kCollective, {"CollectiveReduce", "CollectiveBcastSend"}, {"NcclAllReduce"}},

      {kVariable, {"VariableV2", "VarHandleOp", "Variable", "AutoReloadVariable"}, {"VariableShape"}},
      {kVarHandle, {"VarHandleOp"}, {"_VarHandlesOp", "VariableV2"}},
      {kReferenceVariable, {"VariableV2", "Variable", "AutoReloadVariable"}, {"VarHandleOp"}},
      {kKnownByNode, {"VariableV2", "AddSparseToTensorsMap", "AddManySparseToTensorsMap"}, {"VarHandleOp"}},
      {kAssign, {"Assign", "AssignVariableOp"}, {"AssignAdd", "AssignAddVariableOp"}},
      {kApply,
       {"ApplyAdam", "ResourceApplyAdam", "SparseApplyFtrl", "ResourceSparseApplyFtrl"},
       {"MyApply", "ResourceScatterAdd"}},
      {kWritesVariable, {"AssignAdd", "ScatterNdUpdate", "CountUpTo", "ResourceApplyAdam"}, {"Identity"}},
      {kReadsValue, {"Identity", "ReadVariableOp"}, {"ResourceGather", "RefIdentity"}},
      {kTemporary, {"TemporaryVariable", "DestroyTemporaryVariable"}, {"Variable", "VariableV2"}},
      {kReadsHandle,
       {"ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape", "VarIsInitializedOp",
        "IsVariableInitialized", "DisableCopyOnRead"},
       {"Identity", "AssignVariableOp"}},
      {kAsksInitialized, {"VarIsInitializedOp", "IsVariableInitialized"}, {"DisableCopyOnRead"}},
      {kNeedsNoValue,
       {"VarIsInitializedOp", "IsVariableInitialized", "DisableCopyOnRead"},
       {"VariableShape", "ReadVariableOp"}},
      {kPassesHandle,
       {"Identity", "RefIdentity", "IdentityN", "RefSelect", "Enter", "RefEnter", "Exit", "RefExit", "Merge",
        "RefMerge", "Switch", "RefSwitch", "_SwitchN", "NextIteration", "RefNextIteration"},
       {"_XlaMerge", "Select", "LoopCond", "StopGradient"}},
      {kHasDtypeOfVariable,
       {"ReadVariableOp", "AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp", "ResourceGather"},
       {"ResourceGatherNd", "Assign"}},

      {kTable,
       {"HashTable", "HashTableV2", "MutableHashTable", "MutableHashTableV2", "MutableDenseHashTable",
        "MutableHashTableOfTensorsV2", "MutableTable"},
       {"HashTableV3", "AnonymousHashTable", "MutableHashTableV3", "LookupTableFind", "MutableTabl"}},
      {kMutableTable, {"MutableHashTable", "MutableDenseHashTableV2"}, {"HashTable", "HashTableV2"}},
      {kHashTable, {"HashTable", "HashTableV2"}, {"MutableHashTable"}},
      {kNamedTable, {"HashTable", "LookupTableFind", "MyTableOfMine"}, {"Tabl", "tables"}},
      {kTableInitializer,
       {"InitializeTable", "InitializeTableFromTextFileV2", "LookupTableImportV2"},
       {"LookupTableInsert"}},
      {kFillsState,
       {"LookupTableImportV2", "DeserializeIterator", "BoostedTreesDeserializeEnsemble"},
       {"Assign"}},
      {kTableImport, {"LookupTableImport", "LookupTableImportV2"}, {"InitializeTable", "LookupTableExport"}},
      {kTableExport, {"LookupTableExport", "LookupTableExportV2"}, {"LookupTableImport"}},

      {kSave, {"SaveV2", "Save", "SaveSlices"}, {"SaveDataset", "DistributedSave"}},
      {kRestore, {"RestoreV2", "Restore", "RestoreSlice"}, {"RestoreSlices"}},
      {kSaveV2, {"SaveV2"}, {"Save", "SaveSlices", "RestoreV2"}},
      {kRestoreV2, {"RestoreV2"}, {"Restore", "RestoreSlice", "SaveV2"}},
      {kTakesSlices, {"SaveV2", "SaveSlices", "RestoreV2", "RestoreSlice"}, {"Save", "Restore"}},
      {kMergeCheckpoints, {"MergeV2Checkpoints"}, {"MergeSummary"}},
      {kBehindSave, {"Identity", "Pack", "MergeV2Checkpoints", "NoOp"}, {"ShardedFilename"}},
      {kSaverFilename, {"Const", "Placeholder", "PlaceholderWithDefault"}, {"PlaceholderV2"}},
      {kPassesSaved, {"Identity", "ReadVariableOp", "Cast"}, {"RefIdentity", "Reshape"}},
      {kPassesSavedInGraph,
       {"Identity", "ReadVariableOp", "Cast", "RefIdentity", "Reshape"},
       {"IdentityN", "Squeeze"}},
      {kTakesRestored, {"AssignVariableOp", "LookupTableImportV2"}, {"Assign", "InitializeTableV2"}},

      {kEnter, {"Enter", "RefEnter"}, {"Exit"}},
      {kExit, {"Exit", "RefExit"}, {"Enter"}},
      {kMerge, {"Merge", "RefMerge", "_XlaMerge"}, {"MergeSummary", "MergeV2Checkpoints"}},
      {kSwitch, {"Switch", "RefSwitch", "_SwitchN"}, {"SwitchN"}},
      {kNextIteration, {"NextIteration", "RefNextIteration"}, {"IteratorGetNext"}},
      {kLoopCond, {"LoopCond"}, {"Cond"}},

      {kCall,
       {"PartitionedCall", "StatefulPartitionedCall", "TPUPartitionedCall", "RemoteCall"},
       {"If", "SymbolicGradient"}},
      {kLocalCall, {"PartitionedCall", "StatefulPartitionedCall"}, {"TPUPartitionedCall", "RemoteCall"}},
      {kPartitionedCall,
       {"PartitionedCall", "StatefulPartitionedCall", "TPUPartitionedCall", "MyPartitionedCall"},
       {"RemoteCall", "PartitionedCallV2"}},
      {kIf, {"If", "StatelessIf"}, {"Case"}},
      {kCase, {"Case", "StatelessCase"}, {"If"}},
      {kWhile, {"While", "StatelessWhile"}, {"_While"}},

      {kIterator, {"Iterator", "IteratorV2", "OneShotIterator"}, {"MakeIterator", "IteratorGetNext"}},
      {kTakesFromIterator, {"IteratorGetNext", "IteratorToStringHandle"}, {"Iterator", "MakeIterator"}},
      {kQueue, {"FIFOQueue", "PaddingFIFOQueueV2"}, {"QueueDequeue", "QueueDequeueV2"}},
      {kReader, {"TFRecordReader", "TextLineReaderV2"}, {"ReaderRead", "ReaderReadV2"}},
      {kNoResult,
       {"Const",
        "NoOp",
        "ControlTrigger",
        "Assert",
        "MergeSummary",
        "SummaryWriter",
        "AssignAdd",
        "ApplyAdam",
        "ScatterAdd",
        "ResourceScatterAdd",
        "SaveV2",
        "RestoreSlice",
        "MergeV2Checkpoints",
        "ShardedFilename",
        "InitializeTableV2",
        "LookupTableImport",
        "QueueEnqueue",
        "VarHandleOp",
        "Placeholder",
        "PlaceholderV2",
        "PlaceholderWithDefault",
        "VarIsInitializedOp",
        "IsVariableInitialized",
        "DestroyResourceOp"},
       {"Identity", "Softmax", "PlaceholderOfMine", "TensorScatterUpdate", "LookupTableFind"}},

      {kDataset, {"RangeDataset", "DatasetToGraphV2", "MyDatasetOp"}, {"IteratorGetNext", "dataset"}},
      {kTensorArray,
       {"TensorArray", "TensorArrayV3", "TensorArrayReadV3", "TensorArrayGradWithShape"},
       {"TensorArra", "MyTensorArray", "TensorListGetItem"}},
      {kMakesTensorArray,
       {"TensorArrayV3", "TensorArrayGradV3"},
       {"TensorArray", "TensorArrayV2", "TensorArrayGradV2", "TensorArrayGradWithShape"}},
      {kTensorArrayGradient,
       {"TensorArrayGrad", "TensorArrayGradV3", "TensorArrayGradWithShape"},
       {"TensorArrayV3"}},
      {kTakesElement,
       {"TensorArrayRead", "TensorArrayReadV3", "TensorArrayWriteV3"},
       {"TensorArrayGatherV3", "TensorArrayScatterV3", "ReadVariableOp", "WriteFile"}},
      {kWritesElements,
       {"TensorArrayWriteV3", "TensorArrayScatterV3", "TensorArraySplitV3", "TensorArrayUnpack"},
       {"TensorArrayReadV3", "TensorArrayPack", "Split", "ScatterUpdate"}},

      {kHasNoEffect,
       {"Case", "If", "While", "PartitionedCall", "StatefulPartitionedCall", "RefEnter", "RefExit",
        "RefMerge", "RefNextIteration", "RefSelect", "RefSwitch"},
       {"TPUPartitionedCall", "RefIdentity", "Assert", "_XlaMerge"}},
      {kGivesInputs,
       {"Identity", "RefIdentity", "IdentityN", "StopGradient", "PreventGradient", "Snapshot",
        "CheckNumerics", "CheckNumericsV2", "DeepCopy", "EnsureShape", "GuaranteeConst", "DebugIdentityV2"},
       {"DebugIdentity", "Print", "Reshape"}},
      {kReadsState,
       {"ReadVariableOp", "ResourceGatherNd", "LookupTableFindV2", "LookupTableSize", "LookupTableExportV2",
        "RestoreV2", "TensorArrayReadV3", "TensorArrayWriteV3", "TensorArrayGradV3", "Assert", "Print",
        "PrintV2", "VariableShape", "VarIsInitializedOp"},
       {"TensorArrayV3", "TensorArrayReadV2", "LookupTableInsert", "DisableCopyOnRead", "SaveV2"}},
      {kHoldsState,
       {"FIFOQueue", "PriorityQueueV2", "TextLineReader", "Iterator", "IteratorV2", "Barrier", "MutexV2",
        "ConditionalAccumulator", "SparseConditionalAccumulator"},
       {"LMDBReader", "OneShotIterator", "IteratorGetNext", "MyQueue", "VariableV2"}},
      {kLivesForARun, {"TensorArrayV3"}, {"TensorArrayGradV3", "TensorArray"}},
      {kDrawsNumbers,
       {"DeviceIndex", "Empty", "GraphDefVersion", "NonDeterministicInts", "Skipgram", "Timestamp"},
       {"RandomUniform", "EmptyTensorList"}},
      {kDrawsUniform,
       {"RandomUniform", "StatelessRandomUniform", "StatelessRandomUniformV2"},
       {"RandomUniformInt", "StatelessRandomUniformInt", "RandomStandardNormal"}},
      {kMakesSeedKey,
       {"StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg"},
       {"StatelessRandomGetAlg", "RngReadAndSkip"}},
      {kDrawsByKey,
       {"StatelessRandomNormalV2", "StatelessRandomUniformFullIntV2", "StatelessRandomUniformIntV2",
        "StatelessRandomUniformV2", "StatelessTruncatedNormalV2"},
       {"StatelessRandomUniform", "StatelessRandomGammaV3", "StatelessShuffle"}},
      {kWritesInput, {"InplaceAdd", "InplaceSub", "InplaceUpdate"}, {"Add", "TensorScatterUpdate"}},
      {kNeverDead, {"ControlTrigger"}, {"NoOp", "Merge"}},
      {kAdds, {"Add", "AddV2"}, {"AddN", "BiasAdd", "Sub"}},
      {kCommutes, {"Add", "AddV2", "Mul"}, {"AddN", "Maximum", "Sub"}},
      {kComputesAnew, {"Mul", "MatMul", "ReluGrad"}, {"Sum", "Transpose", "CheckNumerics", "Select"}},
      {kGivesView,
       {"Bitcast", "ExpandDims", "Reshape", "Slice", "Split", "SplitV", "Squeeze", "StridedSlice", "Unpack"},
       {"Pack", "Cast", "Identity", "TensorArraySplitV3"}},
      {kFusedActivation,
       {"Relu", "Relu6", "Elu", "Tanh", "Sigmoid", "LeakyRelu"},
       {"Selu", "Softmax", "BiasAdd", "Identity"}},

      {kHasShape,
       {"Placeholder", "PlaceholderOfMine", "VariableV2", "Variable", "AutoReloadVariable"},
       {"Const", "VarHandleOp"}},
      {kShapeIsInferred,
       {"Const", "Placeholder", "PlaceholderV2", "VariableV2"},
       {"PlaceholderWithDefault", "Variable"}},
      {kUnknownShapeIsEmpty, {"Variable"}, {"VariableV2"}},
      {kComputesShape,
       {"Pack", "Concat", "ConcatV2", "Identity", "Cast", "Prod", "Mul"},
       {"Unpack", "StridedSlice"}},
      {kPassesSizes,
       {"Pack", "ConcatV2", "Cast", "ExpandDims", "Identity"},
       {"Concat", "Prod", "Mul", "StridedSlice"}},
      {kPicksElements, {"Gather", "GatherV2", "StridedSlice"}, {"GatherNd", "Slice"}},
      {kUndoesItself, {"LogicalNot", "Neg"}, {"Reciprocal", "Conj"}},
      {kShapedOtherwise, {"FusedBatchNormGradV3", "UniqueV2"}, {"FusedBatchNormV3", "Unique"}},
      {kOnlyChangesShape,
       {"BroadcastTo", "Pad", "Reshape", "Slice", "Squeeze", "Tile"},
       {"PadV2", "ExpandDims", "StridedSlice"}},
      {kKeepsShape,
       {"Relu", "Identity", "RefIdentity", "Print", "FakeQuantWithMinMaxArgs"},
       {"Rsqrt", "Conv2D"}},
      {kKeepsFirstShape, {"Relu", "Identity", "Rsqrt"}, {"Print", "Conv2D", "RefIdentity"}},
  };
  return cases;
}

TEST(Kinds, EveryKindHasItsOps) {
  OpKinds tested;
  for (const KindCase& one : kind_cases()) {
    const int number = static_cast<int>(one.kind);
    EXPECT_FALSE(tested.has(one.kind)) << "twice: kind " << number;
    tested = tested | one.kind;
    for (const std::string_view op : one.are) EXPECT_TRUE(is(op, one.kind)) << op << ", kind " << number;
    for (const std::string_view op : one.are_not) EXPECT_FALSE(is(op, one.kind)) << op << ", kind " << number;
    EXPECT_FALSE(is("", one.kind)) << number;
  }
  for (int i = 0; i < static_cast<int>(OpKind::kCount); ++i)
    EXPECT_TRUE(tested.has(static_cast<OpKind>(i))) << "no case: kind " << i;
}

TEST(Kinds, SetsAreUnited) {
  using enum OpKind;
  const OpKinds kinds = kConst | kNoOp;
  EXPECT_TRUE(kinds.has(kConst));
  EXPECT_TRUE(kinds.has(kNoOp));
  EXPECT_FALSE(kinds.has(kIdentity));
  EXPECT_TRUE(kinds.has_any(kIdentity | kNoOp));
  EXPECT_FALSE(kinds.has_any(kIdentity | kSave));
  EXPECT_FALSE(OpKinds().has_any(kinds));
}

// Names that differ little from TensorFlow's own: what is() lets by at a glance must be what no row matches.
std::vector<std::string> many_ops() {
  std::vector<std::string> ops{"", "*", "Mutable*Table", "\xff\xfe", std::string(200, 'A') + "Table"};
  const auto vary = [&](const std::string& op) {
    for (const char* before : {"", "Ref", "My", "Resource", "Mutable", "_"}) {
      for (const char* behind : {"", "V2", "Table", "Queue", "X"}) ops.push_back(before + op + behind);
    }
    if (!op.empty()) ops.insert(ops.end(), {op.substr(1), op.substr(0, op.size() - 1)});
  };
  for (const KindCase& one : kind_cases()) {
    for (const std::string_view op : one.are) vary(std::string(op));
    for (const std::string_view op : one.are_not) vary(std::string(op));
  }
  Registry registry;
  registry.add_builtin();
  registry.each_name([&](std::string_view op) { vary(std::string(op)); });
  return ops;
}

TEST(Kinds, OneKindAndAllKindsAgree) {
  for (const std::string& op : many_ops()) {
    const OpKinds kinds = kinds_of(op);
    for (int i = 0; i < static_cast<int>(OpKind::kCount); ++i) {
      const auto kind = static_cast<OpKind>(i);
      ASSERT_EQ(is(op, kind), kinds.has(kind)) << op << ", kind " << i;
    }
  }
}

// Of what an op does besides giving what follows from its inputs there is one answer.
TEST(Kinds, AnOpHasOneEffect) {
  using enum OpKind;
  constexpr OpKind kEffects[] = {kHasNoEffect,  kGivesInputs, kReadsState, kHoldsState, kLivesForARun,
                                 kDrawsNumbers, kWritesInput, kNeverDead,  kPython};
  for (const std::string& op : many_ops()) {
    const OpKinds kinds = kinds_of(op);
    EXPECT_LE(std::ranges::count_if(kEffects, [&](OpKind kind) { return kinds.has(kind); }), 1) << op;
  }
}

}  // namespace gedit::kinds_test
