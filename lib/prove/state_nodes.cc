// Variables, their handles and what reads them, and other state.
#include "graph/value_read.h"
#include "prove/numbering.h"

namespace gedit {

// Variables are what a checkpoint has for them, other state is known by its name.
void Numbering::number_state(Node& node) {
  const ProofOp& op = node.op();
  const std::string_view node_def = graph_.bytes(node.id);
  const bool variable = op.kinds.has(OpKind::kVariable), handle = op.kinds.has(OpKind::kVarHandle);
  const std::string_view shared = string_attr(node_def, "shared_name").value_or("");
  ClassId what = kDeadClass;
  std::optional<KnownValue> stored;
  // Of what two hold nobody knows whose value it was given last.
  const bool shared_by_two = !in_body() && side_.shared_by_two(name_of_state(node_def));
  if (variable && !state_.ordered && !in_body() && !shared_by_two) stored = side_.stored(node.id);
  // A value and a variable are never the same: one name and no value is what both have.
  if (stored && side_.other_lacks_value(side_.name_in_a(node.text.name))) stored.reset();
  if (stored) {
    ++state_.variables;
    what = state_.classes.intern(KeyForm::kConst, {state_.contents.of_stored(*stored, state_.by_checksum)});
  } else {
    std::string text = variable ? "variable" : std::string(op.name);
    std::string_view unknown;
    if (variable) {
      const auto dtype = type_attr(node_def, "dtype");
      text.append(" ").append(dtype ? dtype_name(*dtype) : "");
    } else {
      text.append(" ").append(state_.classes.label(node.labelled.label).text);
    }
    if (in_body() && shared.empty()) unknown = "is a function's own state";
    if (state_.ordered && shared_by_two) unknown = "shares its state with another node";
    // What only one graph has by its name is a function's there.
    const bool by_shared =
        in_body() || (!shared.empty() && !side_.other_has(side_.name_in_a(node.text.name)));
    text.append(" ");
    text.append(!by_shared && shared_by_two ? side_.known_by(node.id)
                                            : side_.name_in_a(by_shared ? shared : node.text.name));
    if (op.kinds.has(OpKind::kTable) && !in_body()) text.append(side_.filled_otherwise(node.id));
    const KeyForm form = by_shared ? KeyForm::kShared : KeyForm::kNode;
    what = state_.classes.intern(state_.classes.label(form, text, unknown), node.inputs);
  }
  if (handle) what = state_.classes.intern(KeyForm::kHandle, {what});
  set(node.id, {after(node, what), node.when});
}

// Reads of a variable's value, as freeze writes them for a constant. False for all other reads.
bool Numbering::number_read(Node& node) {
  if (state_.ordered || node.inputs.empty()) return false;
  Classes& classes = state_.classes;
  if (classes.label_of(node.inputs[0]).form != KeyForm::kHandle) return false;
  const ClassId variable = classes.inputs(node.inputs[0])[0];
  if (node.op().kinds.has(OpKind::kReadsValue)) {
    set(node.id, {variable, node.when});
    return true;
  }
  // What comes out of a loop waits for that.
  const bool waits = comes_out_of_loop(variable);
  const ClassId value = waits ? classes.inputs(variable)[0] : variable;
  const std::string_view node_def = graph_.bytes(node.id);
  std::optional<DType> dtype = type_attr(node_def, "dtype");
  std::optional<Shape> shape;
  if (classes.label_of(value).form == KeyForm::kConst) {
    const ContentId content = classes.inputs(value)[0];
    if (!dtype) dtype = state_.contents.dtype(content);
    if (!waits) shape = Shape(state_.contents.shape(content));
  }
  if (!dtype) return false;
  const std::optional<ValueRead> read = value_read(node_def, *dtype);
  if (!read) return false;
  node.inputs[0] = variable;
  if (read->axis) node.inputs.push_back(int32_constant(*read->axis));
  const Labelled& as = labelled(read->node_def);
  if (shape && folding::reads_shapes(as.op->name)) {
    const folding::FoldOutcome outcome = side_.folder().fold_shapes(read->node_def, {&*shape, 1});
    if (outcome.outputs.size() == 1) {
      set(node.id, {constant(outcome.outputs[0]), node.when});
      return true;
    }
  }
  set(node.id, {classes.intern(as.label, node.inputs), node.when});
  return true;
}

}  // namespace gedit
