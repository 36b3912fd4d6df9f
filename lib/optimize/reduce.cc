#include "optimize/reduce.h"

#include "edit/around/colocations.h"
#include "select/tensors.h"

namespace gedit::optimizing {
namespace {

// What has state, or is seen through, or is a frame or a branch.
constexpr OpKinds kMoreThanANode =
    OpKind::kVariable | OpKind::kVarHandle | OpKind::kReferenceVariable | OpKind::kTemporary |
    OpKind::kWritesVariable | OpKind::kAssign | OpKind::kTable | OpKind::kNamedTable |
    OpKind::kTableInitializer | OpKind::kTableImport | OpKind::kTableExport | OpKind::kSave |
    OpKind::kRestore | OpKind::kSaveV2 | OpKind::kRestoreV2 | OpKind::kMergeCheckpoints | OpKind::kEnter |
    OpKind::kExit | OpKind::kMerge | OpKind::kSwitch | OpKind::kNextIteration | OpKind::kLoopCond |
    OpKind::kCall | OpKind::kPartitionedCall | OpKind::kIf | OpKind::kCase | OpKind::kWhile |
    OpKind::kIterator | OpKind::kQueue | OpKind::kReader;

}  // namespace

bool has_nodes_alone(const Model& model) {
  const Graph& graph = model.graph();
  return model.kind == Kind::kGraphDef && model.meta().parts.empty() &&
         graph.part(graph_field::kLibrary).empty() && !graph.mapped() && !graph.has_any(kMoreThanANode);
}

bool leave_needed(Model& model, const GraphIndex& index, Registry& ops,
                  const std::vector<std::string>& tensors) {
  Graph& graph = model.graph();
  NodeSet needed(graph.size());
  for (const std::string& text : tensors) {
    if (text.starts_with('^') || !tensor_if_there(index.names(), text)) return false;
    needed.add(find_tensor(model, index.names(), ops, text).node);
  }
  needed = reach(needed, index.producers(), kAnyDistance);
  if (needed.count() == graph.tally().nodes) return true;
  shrink_colocations(graph, index.names(), [&](NodeId id) { return needed.has(id); });
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (!needed.has(NodeId{i}) && !graph.removed(NodeId{i})) graph.remove(NodeId{i});
  }
  return true;
}

void remove_unneeded(Net& net, const std::vector<std::string>& tensors) {
  std::vector<Number> wanted;
  for (const std::string& text : tensors) {
    if (const std::optional<In> in = net.find(text)) wanted.push_back(in->node);
  }
  net.keep(net.needed_by(wanted));
}

}  // namespace gedit::optimizing
