// Random numbers of a seed by way of a key, by the op that draws them of the seed itself
// (docs/rules.md#prove-same).
#include "graph/seed_draw.h"
#include "prove/numbering.h"

namespace gedit {

bool Numbering::number_draw(Node& node) {
  if (!node.op().kinds.has(OpKind::kDrawsByKey) || node.data.size() < seed_draw::kBounds) return false;
  const In& key = node.data[seed_draw::kKey];
  const In& algorithm = node.data[seed_draw::kAlgorithm];
  const auto is_made = [&](const In& in, uint32_t output) {
    return in.real() && in.node == key.node && in.index == output;
  };
  if (!is_made(key, seed_draw::kKeyMade) || !is_made(node.data[seed_draw::kCounter], seed_draw::kCounterMade))
    return false;
  const NodeId maker{key.node};
  const std::vector<In> seed = inputs_of(maker);
  if (!is(graph_.op(maker), OpKind::kMakesSeedKey) || seed.empty() || seed[0].control()) return false;
  std::vector<uint32_t> before;
  without_wait(node.inputs[seed_draw::kKey], &before);
  const ClassId chosen = without_wait(node.inputs[seed_draw::kAlgorithm], &before);
  const bool philox = chosen == int32_constant(seed_draw::kPhilox) ||
                      chosen == int32_constant(seed_draw::kAnyAlgorithm) ||
                      is_made(algorithm, seed_draw::kAlgorithmMade) ||
                      (algorithm.real() && graph_.op(NodeId{algorithm.node}) == seed_draw::kAlgorithmOp);
  if (!philox) return false;

  const std::string_view node_def = graph_.bytes(node.id);
  NodeBuilder made("", seed_draw::op_of_seed(node.op().name));
  for (const auto& [attr, type] :
       seed_draw::types_of_seed(node_def, seed_draw::seed_type(graph_.bytes(maker))))
    made.type(attr, type);
  std::vector<ClassId> inputs{node.inputs[seed_draw::kShape], in_value(seed[0]).what};
  inputs.insert(inputs.end(), node.inputs.begin() + seed_draw::kBounds, node.inputs.end());
  const LabelId label = labelled(made.take()).label;
  wait_for(node, std::move(before));
  set(node.id, {after(node, state_.classes.intern(label, inputs)), node.when});
  return true;
}

}  // namespace gedit
