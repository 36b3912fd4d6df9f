// An Unpack, by the Split and the Squeezes that compute the same (docs/rules.md#prove-same).
#include "prove/numbering.h"

namespace gedit {

// What an Unpack gives are pieces, each squeezed: a Squeeze of a piece that is not of size 1 fails.
bool Numbering::number_unpacked(Node& node) {
  if (state_.ordered || node.op().name != "Unpack" || node.inputs.size() != 1) return false;
  const std::string_view node_def = graph_.bytes(node.id);
  const int64_t count = int_attr(node_def, "num").value_or(0), axis = int_attr(node_def, "axis").value_or(0);
  const auto type = type_attr(node_def, "T");
  if (count < 2 || count > folding::kMostPieces || !type) return false;
  NodeBuilder split("", "Split"), squeeze("", "Squeeze");
  split.type("T", *type).attr("num_split", int_value(count));
  squeeze.type("T", *type).attr("squeeze_dims", int_list_value({axis}));
  Classes& classes = state_.classes;
  const ClassId pieces = classes.intern(labelled(split.take()).label, {int32_constant(axis), node.inputs[0]});
  const LabelId squeezed = labelled(squeeze.take()).label;
  std::vector<ProofTensor> outputs;
  for (uint32_t k = 0; k < count; ++k) {
    const ClassId piece = k == 0 ? pieces : classes.intern(KeyForm::kOutput, {pieces, k});
    outputs.push_back({after(node, classes.intern(squeezed, {piece})), node.when});
  }
  set_outputs(node.id, std::move(outputs), node.when);
  return true;
}

}  // namespace gedit
