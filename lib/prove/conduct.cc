#include "prove/conduct.h"

#include <algorithm>
#include <array>

#include "graph/node.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

struct ConductRow {
  std::string_view op;
  Conduct conduct;
};

// Ops that the definitions call stateful, or that take references, and that are not writers all the same.
// Sorted.
constexpr std::array kConductRows = std::to_array<ConductRow>({
    {"Assert", Conduct::kReads},
    {"Barrier", Conduct::kState},
    {"Case", Conduct::kPure},
    {"CheckNumerics", Conduct::kPasses},
    {"CheckNumericsV2", Conduct::kPasses},
    {"ConditionalAccumulator", Conduct::kState},
    {"ControlTrigger", Conduct::kTriggers},
    {"DebugIdentityV2", Conduct::kPasses},
    {"DeepCopy", Conduct::kPasses},
    {"DeviceIndex", Conduct::kRandom},
    {"EagerPyFunc", Conduct::kUnknown},
    {"Empty", Conduct::kRandom},
    {"EnsureShape", Conduct::kPasses},
    {"FIFOQueue", Conduct::kState},
    {"FIFOQueueV2", Conduct::kState},
    {"FixedLengthRecordReader", Conduct::kState},
    {"FixedLengthRecordReaderV2", Conduct::kState},
    {"GraphDefVersion", Conduct::kRandom},
    {"GuaranteeConst", Conduct::kPasses},
    {"Identity", Conduct::kPasses},
    {"IdentityN", Conduct::kPasses},
    {"IdentityReader", Conduct::kState},
    {"IdentityReaderV2", Conduct::kState},
    {"If", Conduct::kPure},
    {"InplaceAdd", Conduct::kInPlace},
    {"InplaceSub", Conduct::kInPlace},
    {"InplaceUpdate", Conduct::kInPlace},
    {"IsVariableInitialized", Conduct::kReads},
    {"Iterator", Conduct::kState},
    {"IteratorV2", Conduct::kState},
    {"LookupTableExport", Conduct::kReads},
    {"LookupTableExportV2", Conduct::kReads},
    {"LookupTableFind", Conduct::kReads},
    {"LookupTableFindV2", Conduct::kReads},
    {"LookupTableSize", Conduct::kReads},
    {"LookupTableSizeV2", Conduct::kReads},
    {"MutexV2", Conduct::kState},
    {"NonDeterministicInts", Conduct::kRandom},
    {"PaddingFIFOQueue", Conduct::kState},
    {"PaddingFIFOQueueV2", Conduct::kState},
    {"PartitionedCall", Conduct::kPure},
    {"PreventGradient", Conduct::kPasses},
    {"Print", Conduct::kReads},
    {"PrintV2", Conduct::kReads},
    {"PriorityQueue", Conduct::kState},
    {"PriorityQueueV2", Conduct::kState},
    {"PyFunc", Conduct::kUnknown},
    {"PyFuncStateless", Conduct::kUnknown},
    {"RandomShuffleQueue", Conduct::kState},
    {"RandomShuffleQueueV2", Conduct::kState},
    {"ReadVariableOp", Conduct::kReads},
    {"RefEnter", Conduct::kPure},
    {"RefExit", Conduct::kPure},
    {"RefIdentity", Conduct::kPasses},
    {"RefMerge", Conduct::kPure},
    {"RefNextIteration", Conduct::kPure},
    {"RefSelect", Conduct::kPure},
    {"RefSwitch", Conduct::kPure},
    {"ResourceGather", Conduct::kReads},
    {"ResourceGatherNd", Conduct::kReads},
    {"Restore", Conduct::kReads},
    {"RestoreSlice", Conduct::kReads},
    {"RestoreV2", Conduct::kReads},
    {"Skipgram", Conduct::kRandom},
    {"Snapshot", Conduct::kPasses},
    {"SparseConditionalAccumulator", Conduct::kState},
    {"StatefulPartitionedCall", Conduct::kPure},
    {"StopGradient", Conduct::kPasses},
    {"TFRecordReader", Conduct::kState},
    {"TFRecordReaderV2", Conduct::kState},
    {"TensorArrayCloseV3", Conduct::kReads},
    {"TensorArrayConcatV3", Conduct::kReads},
    {"TensorArrayGatherV3", Conduct::kReads},
    {"TensorArrayGradV3", Conduct::kReads},
    {"TensorArrayReadV3", Conduct::kReads},
    {"TensorArrayScatterV3", Conduct::kReads},
    {"TensorArraySizeV3", Conduct::kReads},
    {"TensorArraySplitV3", Conduct::kReads},
    {"TensorArrayV3", Conduct::kFresh},
    {"TensorArrayWriteV3", Conduct::kReads},
    {"TextLineReader", Conduct::kState},
    {"TextLineReaderV2", Conduct::kState},
    {"Timestamp", Conduct::kRandom},
    {"VarIsInitializedOp", Conduct::kReads},
    {"VariableShape", Conduct::kReads},
    {"While", Conduct::kPure},
    {"WholeFileReader", Conduct::kState},
    {"WholeFileReaderV2", Conduct::kState},
});
static_assert(std::ranges::is_sorted(kConductRows, {}, &ConductRow::op));

bool takes_references(const OpDef& op_def) {
  return std::ranges::any_of(op_def.inputs, [](const ArgDef& arg) { return arg.is_ref; });
}

}  // namespace

Conduct conduct_of(std::string_view op, const OpDef* op_def) {
  const auto* row = std::ranges::lower_bound(kConductRows, op, {}, &ConductRow::op);
  if (row != kConductRows.end() && row->op == op) return row->conduct;
  if (op_def == nullptr) return Conduct::kUnknown;
  if (is_variable_op(op) || is_table_op(op)) return Conduct::kState;
  const bool queue = is(op, OpKind::kQueue) || is(op, OpKind::kReader);
  if (op_def->find_attr("seed") != nullptr && !queue && !op.ends_with("Dataset")) return Conduct::kRandom;
  // The seeds of a dataset are inputs, and may be none.
  const auto seed = [](const ArgDef& arg) { return arg.name == "seed"; };
  if (op.find("Dataset") != std::string_view::npos && std::ranges::any_of(op_def->inputs, seed))
    return Conduct::kRandom;
  return op_def->is_stateful || takes_references(*op_def) ? Conduct::kWrites : Conduct::kPure;
}

bool commutes(std::string_view op, std::string_view node_def) {
  if (op != "Add" && op != "AddV2" && op != "Mul") return false;
  switch (type_attr(node_def, "T").value_or(DType::kInvalid)) {
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
