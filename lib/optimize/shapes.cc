#include "optimize/shapes.h"

#include <unordered_map>

#include "shape/infer.h"

namespace gedit::optimizing {
namespace {

void learn(Subject& subject, Number n, const GraphShapes& shapes) {
  Net& net = subject.net;
  const NodeId id{n};
  if (folding::follows_from_shapes(net.op(n).name)) {
    if (auto known = folding::known_value(shapes, id, net.def(n), subject.folder))
      subject.known.emplace(n, std::move(*known));
  } else if (folding::has_shape_of(shapes, id, id)) {
    subject.same_shape.insert(n);
  }
}

}  // namespace

bool learn_shapes(Subject& subject, Graph& graph, Registry& ops) {
  if (!subject.passes.fold && !subject.passes.algebra) return false;
  Net& net = subject.net;
  // Asked once for each op.
  struct Of {
    bool asks, tells;
  };
  std::unordered_map<const ProofOp*, Of> ops_there;
  const ProofOp* last = nullptr;
  Of of_last{};
  std::vector<Number> nodes;
  bool any = false;
  for (Number n = 0; n < net.size(); ++n) {
    if (!net.there(n) || subject.is_untouched(n)) continue;
    const ProofOp* const op = &net.op(n);
    if (op != last) {
      const auto [found, fresh] = ops_there.try_emplace(op);
      if (fresh) {
        const bool asks = folding::reads_shapes(op->name) || folding::only_shapes(op->name);
        found->second = {asks, asks || folding::follows_from_shapes(op->name)};
      }
      last = op;
      of_last = found->second;
    }
    if (of_last.tells) nodes.push_back(n);
    any = any || of_last.asks;
  }
  if (!any) return false;
  net.store();
  InferRequest infer;
  infer.file_shapes = false;
  const Inference inference(graph, ops, infer);
  for (const Number n : nodes) learn(subject, n, inference.main());
  return true;
}

}  // namespace gedit::optimizing
