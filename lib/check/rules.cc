#include "check/rules.h"

#include <algorithm>
#include <array>

namespace gedit {
namespace {

// What refuses it in TensorFlow stands behind each; gc: core/common_runtime/graph_constructor.cc.
constexpr std::array kRules{
    // gc, EnsureNodeNames / IsValidNodeName: "contains invalid characters"
    RuleInfo{Rule::kName, "name", Level::kError, "not a name that TensorFlow takes"},
    // protobuf: of a field that is there twice the last counts
    RuleInfo{Rule::kTwice, "twice", Level::kError,
             "two names, ops or devices of one node, two values of one attribute: protobuf takes the last, "
             "or joins them"},
    // gc, InitFromEdges: "is not unique"; in functions framework/function.cc, AddItem: "Duplicated"
    RuleInfo{Rule::kDuplicate, "duplicate", Level::kError, "two nodes of one name"},
    // gc, Convert: "Unknown input node", "Connecting to invalid output"
    RuleInfo{Rule::kInput, "input", Level::kError, "no such node, no such output"},
    // gc, Convert: "Control dependencies must come after regular dependencies"
    RuleInfo{Rule::kInputOrder, "input-order", Level::kError, "a control input before a data input"},
    // gc, Convert: "nodes in a cycle", "had a back edge, but only Merge nodes can have back edges"
    RuleInfo{Rule::kCycle, "cycle", Level::kError, "a cycle that no NextIteration closes"},
    // framework/node_def_util.cc, ValidateNodeDef: "expected inputs ... do not match"
    RuleInfo{Rule::kArity, "arity", Level::kError, "more or fewer inputs than the op takes"},
    // gc, ValidateInputMapAndControlDependencies / TypesCompatible: "incompatible with expected"
    RuleInfo{Rule::kDtype, "dtype", Level::kError, "an input of another dtype than the op takes"},
    // the same: a value, where the op writes to what it is given
    RuleInfo{Rule::kReference, "reference", Level::kError,
             "a plain value where a reference or a resource is needed"},
    // framework/node_def_util.cc, ValidateNodeDef; framework/attr_value_util.cc, AttrValueHasType
    RuleInfo{Rule::kAttribute, "attribute", Level::kError,
             "a required attribute is missing, is not in the op, or is of another type"},
    // framework/op.cc: "Op type not registered"; a library of custom ops may have it
    RuleInfo{Rule::kUnknownOp, "unknown-op", Level::kWarning, "an op that is not known; see --ops"},
    // framework/op_def_util.cc, CheckOpDeprecation: "not available in GraphDef version"
    RuleInfo{Rule::kDeprecatedOp, "deprecated-op", Level::kError,
             "an op that is gone for graphs of this producer"},
    // gc, ValidateColocationConstraints: "expects to be colocated with unknown node"
    RuleInfo{Rule::kColocation, "colocation", Level::kError, "beside a node that is not there"},
    // graph/control_flow.cc, BuildControlFlowInfo: "inputs from different frames",
    // "Mismatched parent frames", "more than one LoopCond node"
    RuleInfo{Rule::kFrame, "frame", Level::kError,
             "two loops in one frame, edges across frames, or what ends a loop outside"},
    // common_runtime/function.cc, Instantiate: "is not defined"; framework/function.cc
    RuleInfo{Rule::kFunction, "function", Level::kError,
             "a function is missing, or takes and gives something else; nothing calls it: a warning"},
    // gc, ValidateShape: "an _output_shapes attribute inconsistent with the GraphDef"
    RuleInfo{Rule::kOutputShapes, "output-shapes", Level::kError,
             "_output_shapes that TensorFlow refuses at import"},
    // core/framework/shape_inference.cc at import: "Dimensions must be equal", "must be rank"; in functions
    // when they run
    RuleInfo{
        Rule::kShapes, "shapes", Level::kError,
        "shapes that cannot agree, or an input of another rank than the op takes; in functions: a warning"},
    // kernels/constant_op.cc, framework/tensor.cc: "Cannot parse tensor from proto"
    RuleInfo{Rule::kConst, "const", Level::kError, "bytes that do not make up the tensor's shape"},
    // python/ops/variables.py, from_proto: "refers to an Operation not in the graph"; two definitions of one
    // variable: "At least two variables have the same name" (python/training/saving/saveable_object_util.py)
    RuleInfo{Rule::kVariable, "variable", Level::kError,
             "a VariableDef names what is not there, or differs between collections"},
    // python/framework/meta_graph.py, import_scoped_meta_graph: KeyError
    RuleInfo{Rule::kCollection, "collection", Level::kError, "a collection names what is not there"},
    // python/ops/control_flow_ops.py, from_proto: KeyError
    RuleInfo{Rule::kContext, "context", Level::kError,
             "a CondContextDef or WhileContextDef names what is not there"},
    // python/training/queue_runner_impl.py, from_proto: KeyError
    RuleInfo{Rule::kQueueRunner, "queue-runner", Level::kError, "a QueueRunnerDef names what is not there"},
    // python/training/saver.py; kernels/save_restore_v2_ops.cc, ValidateInputs: "Got ... tensor names but"
    RuleInfo{Rule::kSaver, "saver", Level::kError,
             "a saver names what is not there, or its keys do not fit its dtypes"},
    // cc/saved_model/loader.cc; session.run of a tensor that is not in the graph, or fed with another dtype
    RuleInfo{Rule::kSignature, "signature", Level::kError,
             "a signature's tensor is not there; of another dtype, or its outputs need what it does not "
             "feed: a warning"},
    // python/saved_model/loader_impl.py, get_asset_tensors
    RuleInfo{Rule::kAsset, "asset", Level::kError, "an asset's file or tensor is not there"},
    // python/saved_model/loader_impl.py, get_init_op: "Expected exactly one main op"
    RuleInfo{Rule::kInitOp, "init-op", Level::kError, "the init op is not there, or there are two"},
    // python/saved_model/load.py
    RuleInfo{Rule::kObjectGraph, "object-graph", Level::kError,
             "an object refers to an object, a function, an asset or a node that is not there"},
    // framework/versions.cc, CheckVersions
    RuleInfo{Rule::kVersions, "versions", Level::kError, "made for a newer TensorFlow than is known"},
    // util/tensor_bundle/tensor_bundle.cc: "Key ... not found in checkpoint", "tensor shape ... mismatch"
    RuleInfo{Rule::kCheckpoint, "checkpoint", Level::kError,
             "the variables of a SavedModel do not fit the saver, or are not there"},
    // framework/resource_mgr.h: "wrong type"; kernels/resource_variable_ops.cc: "dtype mismatch"
    RuleInfo{Rule::kSharedName, "shared-name", Level::kError,
             "two VarHandleOps of one identity and of other dtypes; of other shapes: a warning"},
    // protobuf: no message over 2 GiB is parsed
    RuleInfo{Rule::kSize, "size", Level::kError, "over 2 GiB"},
    // python/framework/importer.py, _RemoveDefaultAttrs: only what the producer's list tells can be dropped
    RuleInfo{Rule::kImport, "import", Level::kWarning, "an attribute that is newer than the producer"},
    RuleInfo{Rule::kUnsafeOp, "unsafe-op", Level::kError,
             "with --security: an op that reads or writes files, runs code or opens sockets"},
    RuleInfo{Rule::kUnsafeFile, "unsafe-file", Level::kError,
             "with --security: what leads out of the model's folder, or is no file"},
};

const RuleInfo& info(Rule rule) { return kRules[static_cast<size_t>(rule)]; }

constexpr bool in_order() {
  for (size_t i = 0; i < kRules.size(); ++i) {
    if (static_cast<size_t>(kRules[i].rule) != i) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

std::span<const RuleInfo> rules() { return kRules; }

std::string rules_text() {
  constexpr size_t kWidth = 15;
  std::string text;
  for (const RuleInfo& rule : kRules) {
    text += "  " + std::string(rule.name) + std::string(kWidth - rule.name.size(), ' ') +
            std::string(rule.meaning);
    text += rule.level == Level::kWarning ? " (a warning)\n" : "\n";
  }
  return text;
}

void Report::add(Rule rule, std::string subject, std::string message) {
  faults_.push_back({std::string(info(rule).name), std::move(subject), std::move(message), info(rule).level});
}

void Report::warn(Rule rule, std::string subject, std::string message) {
  faults_.push_back({std::string(info(rule).name), std::move(subject), std::move(message), Level::kWarning});
}

void Report::append(Report more) {
  faults_.insert(faults_.end(), std::make_move_iterator(more.faults_.begin()),
                 std::make_move_iterator(more.faults_.end()));
}

bool Report::has_errors() const {
  return std::any_of(faults_.begin(), faults_.end(),
                     [](const Fault& fault) { return fault.level == Level::kError; });
}

}  // namespace gedit
