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
  std::vector<bool> needed(graph.size());
  std::vector<NodeId> open;
  const auto go = [&](NodeId id) {
    if (needed[index_of(id)]) return;
    needed[index_of(id)] = true;
    open.push_back(id);
  };
  for (const std::string& text : tensors) {
    if (text.starts_with('^') || !tensor_if_there(index.names(), text)) return false;
    go(find_tensor(model, index.names(), ops, text).node);
  }
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    for (const NodeId from : index.producers().of(id)) go(from);
  }
  shrink_colocations(graph, index.names(), [&](NodeId id) { return needed[index_of(id)]; });
  for (uint32_t i = 0; i < needed.size(); ++i) {
    if (!needed[i] && !graph.removed(NodeId{i})) graph.remove(NodeId{i});
  }
  return true;
}

void remove_unneeded(Net& net, const std::vector<std::string>& tensors) {
  std::vector<bool> needed(net.size());
  std::vector<Number> open;
  const auto go = [&](Number n) {
    if (needed[n]) return;
    needed[n] = true;
    open.push_back(n);
  };
  for (const std::string& text : tensors) {
    if (const std::optional<In> in = net.find(text)) go(in->node);
  }
  while (!open.empty()) {
    const Number n = open.back();
    open.pop_back();
    for (const In& in : net.inputs(n)) go(in.node);
  }
  for (Number n = 0; n < net.size(); ++n) {
    if (net.there(n) && !needed[n]) net.remove(n);
  }
}

}  // namespace gedit::optimizing
