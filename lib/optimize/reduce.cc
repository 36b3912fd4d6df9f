#include "optimize/reduce.h"

#include <atomic>

#include "base/blank.h"
#include "base/parallel.h"
#include "base/shared_bits.h"
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
    OpKind::kIterator | OpKind::kTakesFromIterator | OpKind::kQueue | OpKind::kReader;

// Whether these need everything, as far as that is seen at once: each other node is read, and each reads only
// what stands before it. So the last one that is not needed would be read by one behind it that is.
bool all_needed(const NodeSet& asked, const Edges& producers) {
  const uint32_t nodes = asked.size();
  SharedBits read(nodes);
  std::atomic<bool> all = true;
  in_pieces(nodes, [&](size_t, PieceRange range) {
    for (uint32_t i = range.begin; i < range.end && all; ++i) {
      for (const NodeId from : producers.of(NodeId{i})) {
        if (index_of(from) >= i) all = false;
        read.set(index_of(from));
      }
    }
  });
  in_pieces(nodes, [&](size_t, PieceRange range) {
    for (uint32_t i = range.begin; i < range.end && all; ++i) {
      if (!read.has(i) && !asked.has(NodeId{i})) all = false;
    }
  });
  return all;
}

// What stays where all that something stands for goes, and nothing else. That is all that is needed if the
// others read none of it, and each of them is wanted or read by another, since there are no cycles. Nothing
// where that is not so.
std::optional<SharedBits> left_where_gone_is_unread(const Subject& subject,
                                                    const std::vector<Number>& wanted) {
  const Net& net = subject.net;
  SharedBits read(net.size());
  for (const Number n : wanted) read.set(n);
  const auto each = [&](const auto& look) {
    in_pieces(net.size(), [&](size_t, PieceRange range) {
      for (Number n = range.begin; n < range.end; ++n) {
        if (net.there(n)) look(n, subject.reason_of(n).has_value());
      }
    });
  };
  each([&](Number n, bool gone) {
    for (const In& in : gone ? std::span<const In>() : net.inputs(n)) {
      if (!in.argument()) read.set(in.node);
    }
  });
  std::atomic<bool> unlike = false;
  each([&](Number n, bool gone) {
    if (read.has(n) == gone) unlike = true;
  });
  return unlike ? std::nullopt : std::optional(std::move(read));
}

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
  if (graph.tally().nodes == graph.size() && all_needed(needed, index.producers())) return true;
  needed = reach(needed, index.producers(), kAnyDistance);
  if (needed.count() == graph.tally().nodes) return true;
  shrink_colocations(graph, index.names(), [&](NodeId id) { return needed.has(id); });
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (!needed.has(NodeId{i}) && !graph.removed(NodeId{i})) graph.remove(NodeId{i});
  }
  return true;
}

void remove_unneeded(Subject& subject, const std::vector<std::string>& tensors) {
  Net& net = subject.net;
  std::vector<Number> wanted;
  for (const std::string& text : tensors) {
    if (const std::optional<In> in = net.find(text)) wanted.push_back(in->node);
  }
  if (const std::optional<SharedBits> left = left_where_gone_is_unread(subject, wanted))
    return net.keep([&](Number n) { return left->has(n); });
  BlankVector<uint32_t> readers = filled_in_pieces(net.size(), uint32_t{0});
  in_pieces(net.size(), [&](size_t, PieceRange range) {
    for (Number n = range.begin; n < range.end; ++n) {
      if (!net.there(n)) continue;
      for (const In& in : net.inputs(n)) {
        if (!in.argument()) std::atomic_ref(readers[in.node]).fetch_add(1, std::memory_order_relaxed);
      }
    }
  });
  for (const Number n : wanted) ++readers[n];
  std::vector<Number> unread = found_in_pieces(net.size(), [&](PieceRange range) {
    std::vector<Number> found;
    for (Number n = range.begin; n < range.end; ++n) {
      if (net.there(n) && readers[n] == 0) found.push_back(n);
    }
    return found;
  });
  // Without cycles a node is not needed where nobody reads it, or only such nodes do.
  NodeSet needed = net.all();
  while (!unread.empty()) {
    const Number n = unread.back();
    unread.pop_back();
    needed.remove(NodeId{n});
    for (const In& in : net.inputs(n)) {
      if (!in.argument() && --readers[in.node] == 0) unread.push_back(in.node);
    }
  }
  net.keep([&](Number n) { return needed.has(NodeId{n}); });
}

}  // namespace gedit::optimizing
