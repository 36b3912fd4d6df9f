#include "optimize/shapes.h"

#include <algorithm>
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

// Whether a node may be dropout: a product, or what a Select takes.
bool may_be_masked(What what) {
  return what == What::kMultiply || what == What::kDivide || what == What::kSelectV2;
}

// Whether something draws numbers of a shape that is not computed from a tensor's.
bool draws_stated_shape(const Net& net) {
  if (!net.has_op([](const ProofOp& op, What) { return op.kinds.has(OpKind::kDrawsUniform); })) return false;
  for (Number n = 0; n < net.size(); ++n) {
    if (!net.there(n) || !net.is(n, OpKind::kDrawsUniform) || net.data(n).empty()) continue;
    const In shape = net.data(n)[0];
    if (!shape.argument() && net.is(shape.node, OpKind::kConst)) return true;
  }
  return false;
}

// Of a SelectV2 but for scalars, which take the shape of what it gives.
bool reads_one_shape(const GraphShapes& shapes, Number n, bool selects) {
  const std::vector<Shape> read = shapes.input_shapes(NodeId{n});
  if (read.size() != (selects ? 3 : 2)) return false;
  const Shape& x = read[selects ? 1 : 0];
  if (!x || std::ranges::any_of(*x, [](int64_t size) { return size < 0; })) return false;
  return std::ranges::all_of(
      read, [&](const Shape& shape) { return shape && (shape == x || (selects && shape->empty())); });
}

}  // namespace

bool learn_shapes(Subject& subject, Graph& graph, Registry& ops) {
  Net& net = subject.net;
  const bool masks = subject.passes.dropout && draws_stated_shape(net);
  if (!subject.passes.fold && !subject.passes.algebra && !masks) return false;
  const auto asks_for_shapes = [](const ProofOp& op, What) {
    return folding::reads_shapes(op.name) || folding::only_shapes(op.name);
  };
  if (!masks && !net.has_op(asks_for_shapes)) return false;
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
        const bool asks = asks_for_shapes(*op, What::kOther);
        found->second = {asks, asks || folding::follows_from_shapes(op->name)};
      }
      last = op;
      of_last = found->second;
    }
    if (of_last.tells) nodes.push_back(n);
    any = any || of_last.asks;
  }
  if (!any && !masks) return false;
  net.store();
  InferRequest infer;
  infer.file_shapes = false;
  const Inference inference(graph, ops, infer);
  for (const Number n : nodes) {
    if (subject.passes.fold || subject.passes.algebra) learn(subject, n, inference.main());
  }
  for (Number n = 0; masks && n < net.size(); ++n) {
    if (net.there(n) && may_be_masked(net.what(n)) &&
        reads_one_shape(inference.main(), n, net.what(n) == What::kSelectV2))
      subject.one_shape.insert(n);
  }
  return true;
}

}  // namespace gedit::optimizing
