// What one node gives, by what it reads.
#include <algorithm>

#include "graph/frames.h"
#include "graph/tensor_layout.h"
#include "prove/neutral.h"
#include "prove/numbering.h"

namespace gedit {
namespace {

// What they give depends on more than what they read: a name, a loop, a branch, a function.
constexpr OpKinds kOfItsPlace = OpKind::kPlaceholder | OpKind::kSwitch | OpKind::kMerge | OpKind::kEnter |
                                OpKind::kExit | OpKind::kNextIteration | OpKind::kLoopCond |
                                OpKind::kTensorArray | OpKind::kWhile | OpKind::kIf | OpKind::kCase |
                                OpKind::kCall;

}  // namespace

void Numbering::number(NodeId id, std::span<const In> ins) {
  const Labelled& labelled = side_.labels().of(graph_.bytes(id), text_);
  // Control inputs stand behind all others wherever TensorFlow reads a graph.
  const auto first_control = std::ranges::find_if(ins, &In::control);
  const auto count = static_cast<size_t>(first_control - ins.begin());
  classes_of_inputs_.clear();
  Node node{id, text_, labelled, ins.first(count), ins.subspan(count), classes_of_inputs_};

  const ProofOp& op = node.op();
  uint8_t frame = 0;
  bool effect = false, looping = false, of_array = op.kinds.has(OpKind::kMakesTensorArray);
  for (const In& in : ins) {
    if (!in.real() || (op.kinds.has(OpKind::kMerge) && !in.control() && state_of_[in.node] != kDone))
      continue;
    frame = std::max(frame, frames_[in.node]);
    looping = looping || depends_on_loop_[in.node];
    of_array = of_array || of_array_[in.node];
  }
  of_array_[index_of(id)] = of_array;
  if (op.kinds.has(OpKind::kEnter) && frame < UINT8_MAX) ++frame;
  if (op.kinds.has(OpKind::kExit) && frame > 0) --frame;
  frames_[index_of(id)] = frame;
  special_ = special_ || frame != 0 || looping || of_array;
  follows_[index_of(id)] = frame == 0 && !looping && !of_array && follows(node, ins);

  if (state_.ordered) is_memory_[index_of(id)] = gives_memory(node);

  const bool variable = op.kinds.has(OpKind::kMerge) && std::ranges::any_of(node.data, [&](const In& in) {
                          return in.real() && is_back_edge(id, in);
                        });
  looping = looping || variable || sees_loops(node);
  if (looping && !depends_on_loop_[index_of(id)]) {
    depends_on_loop_[index_of(id)] = true;
    looping_.push_back(id);
  }
  if (variable) {
    number_loop_variable(node);
  } else if (op.kinds.has(OpKind::kMerge)) {
    number_merge(node);
  } else {
    // What is fed does not run, whatever it waits for.
    const bool fed = op.kinds.has(OpKind::kPlaceholder) && !op.kinds.has(OpKind::kPlaceholderWithDefault);
    const bool never_dead = fed || op.conduct == Conduct::kTriggers;
    for (const In& in : node.data) {
      const ProofTensor value = in_value(in);
      node.inputs.push_back(value.what);
      node.when = state_.conditions.both(node.when, value.when);
    }
    for (const In& in : node.controls) {
      if (!in.real() || never_dead) continue;
      const ProofTensor& value = values_[in.node];
      node.when = state_.conditions.both(node.when, value.when);
    }
    if (node.when == kNever) {
      set(id, {kDeadClass, kNever});
    } else {
      effect = has_effect(node);
      if (effect) {
        state_.writes = true;
        if (effects_.empty() || effects_.back() != id) effects_.push_back(id);
      }
      number_alive(node);
    }
  }
  if (state_.ordered) {
    done_[index_of(id)] = done_by(node, effect);
  } else if (of_array) {
    note_arrays(node);
  }
}

// Writes into a TensorArray are seen by what runs behind them, over whichever edge: an element that is read
// before may be zero.
ClassId Numbering::after_arrays(const Node& node, ClassId what) {
  if (state_.ordered || !node.op().kinds.has(OpKind::kTensorArray)) return what;
  std::vector<uint32_t> before = arrays_before(node);
  if (before.empty()) return what;
  return state_.classes.intern(KeyForm::kAfter, {what, all_before(std::move(before))});
}

// What of TensorArrays ran before the node, by its control edges.
std::vector<uint32_t> Numbering::arrays_before(const Node& node) const {
  std::vector<uint32_t> before;
  for (const In& in : node.controls) {
    if (!in.real() || !of_array_[in.node]) continue;
    if (const auto done = arrays_done_.find(in.node); done != arrays_done_.end())
      before.push_back(done->second);
  }
  return before;
}

// For who waits for the node: what it gives, and what it waited for itself, which a group does not give.
void Numbering::note_arrays(const Node& node) {
  std::vector<uint32_t> done = arrays_before(node);
  const size_t waited = done.size();
  for (const In& in : node.data) {
    if (!in.real() || !of_array_[in.node] || state_of_[in.node] != kDone) continue;
    if (const auto other = arrays_done_.find(in.node); other != arrays_done_.end())
      done.push_back(other->second);
  }
  const ProofTensor& value = values_[index_of(node.id)];
  if ((value.what & kMany) == 0 && node.op().kinds.has(OpKind::kTensorArray)) {
    done.push_back(value.what);
  } else if ((value.what & kMany) == 0 && waited == 0 && done.size() == 1) {
    arrays_done_[index_of(node.id)] = done[0];
    return;
  }
  if (done.empty()) done.push_back(value.what & kMany ? kDeadClass : value.what);
  arrays_done_[index_of(node.id)] = all_before(std::move(done));
}

void Numbering::number_alive(Node& node) {
  const ProofOp& op = node.op();
  if (state_.ordered && number_assumed(node)) return;
  if (op.kinds.has(OpKind::kConst)) {
    set(node.id, {after(node, state_.constant(node.text.tensor)), node.when});
  } else if (op.kinds.has(OpKind::kPlaceholder)) {
    number_input(node);
  } else if (op.kinds.has(OpKind::kSwitch)) {
    number_switch(node);
  } else if (op.kinds.has(OpKind::kExit)) {
    number_exit(node);
  } else if (op.kinds.has(OpKind::kLoopCond)) {
    number_loop_condition(node);
  } else if (op.kinds.has(OpKind::kWhile)) {
    number_while(node);
  } else if (op.kinds.has_any(OpKind::kIf | OpKind::kCase)) {
    number_choice(node);
  } else if (op.kinds.has(OpKind::kCall) || side_.body(op.name) != nullptr) {
    number_call(node);
  } else if (op.conduct == Conduct::kPasses) {
    number_passing(node);
  } else if (op.conduct == Conduct::kState) {
    number_state(node);
  } else if (op.conduct == Conduct::kReads && number_read(node)) {
    return;
  } else if (!number_into_iteration(node) && !number_folded(node) && !number_of_one_shape(node) &&
             !number_as_input(node) && !number_unpacked(node) && !number_draw(node)) {
    number_plain(node);
  }
}

// Whether the node's value is told by its bytes and by the values of what it reads alone: nothing of the
// graph around it, neither names nor shapes nor state, and no order of effects, has a part in it.
bool Numbering::follows(const Node& node, std::span<const In> ins) const {
  const ProofOp& op = node.op();
  if (state_.ordered || state_.shapes_count || in_body() || side_.has_functions()) return false;
  if (op.kinds.has_any(kOfItsPlace) || (op.conduct != Conduct::kPure && op.conduct != Conduct::kPasses))
    return false;
  const AssumedTensors& assumed = side_.assumed;
  return std::ranges::all_of(ins, [&](const In& in) {
    return in.real() && state_of_[in.node] == kDone &&
           (assumed.empty() || !assumed.contains(uint64_t{in.node} << 32 | in.index));
  });
}

// Where order counts: what is taken for a constant waits for all that the node read, as one that is folded.
bool Numbering::number_assumed(Node& node) {
  const AssumedTensors& all = in_body() ? body_->assumed : side_.assumed;
  const auto assumed = all.find(uint64_t{index_of(node.id)} << 32);
  if (assumed == all.end() || assumed->second.argument || assumed->second.node != kNoNode) return false;
  wait_for(node, waits_of_inputs(node));
  set(node.id, {after(node, assumed->second.what), node.when});
  return true;
}

void Numbering::number_input(Node& node) {
  ProofState& state = state_;
  std::string text = "input ";
  const auto dtype = type_attr(graph_.bytes(node.id), "dtype");
  text += dtype ? dtype_name(*dtype) : "";
  text.append(" ").append(side_.name_in_a(node.text.name));
  const std::string_view unknown = in_body() ? "is fed inside a function" : "";
  const bool runs = node.op().kinds.has(OpKind::kPlaceholderWithDefault);
  if (runs) text += " or";
  const ClassId what = state.classes.intern(state.classes.label(KeyForm::kNode, text, unknown), node.inputs);
  set(node.id, {runs ? after(node, what) : what, node.when});
}

// What passes a reference on passes what it refers to; where something writes, it reads.
void Numbering::number_passing(Node& node) {
  if (node.data.size() == 1 && !state_.ordered) return set(node.id, {node.inputs[0], node.when});
  std::vector<ProofTensor> outputs;
  bool reference = false;
  for (size_t i = 0; i < node.data.size(); ++i) {
    const In& in = node.data[i];
    if (in.real() && side_.labels().op(node_op(graph_.bytes(NodeId{in.node}))).gives_references)
      reference = true;
    outputs.push_back({after(node, node.inputs[i]), node.when});
  }
  const bool copies = !node.op().kinds.has(OpKind::kPassesHandle) && reads_memory(node);
  if (outputs.empty() || copies) return number_plain(node);
  put_behind(outputs, node.inputs);
  if (state_.ordered && reference && !node.op().gives_references) {
    for (ProofTensor& output : outputs) output.what = own(node, output.what);
  }
  if (outputs.size() == 1) {
    set(node.id, outputs[0]);
  } else {
    set_outputs(node.id, std::move(outputs), node.when);
  }
}

// What is computed from constants alone is a constant, where that is known bit for bit.
bool Numbering::number_folded(Node& node) {
  const ProofOp& op = node.op();
  if (op.conduct != Conduct::kPure || node.inputs.empty()) return false;
  std::vector<uint32_t> before;
  const std::vector<ClassId> constants = folded(node, before);
  if (constants.empty()) return false;
  wait_for(node, std::move(before));
  std::vector<ProofTensor> outputs;
  for (const ClassId constant : constants) outputs.push_back({after(node, constant), node.when});
  if (outputs.size() == 1) {
    set(node.id, outputs[0]);
  } else {
    set_outputs(node.id, std::move(outputs), node.when);
  }
  return true;
}

// The constants that it gives; empty where they are not known. `before`: what the constants that it reads
// waited for.
std::vector<ClassId> Numbering::folded(const Node& node, std::vector<uint32_t>& before) {
  const ProofOp& op = node.op();
  std::vector<uint32_t> inputs;
  const auto is_constant = [&](ClassId input) {
    const ClassId held = without_wait(input, &before);
    if (state_.classes.label_of(held).form != KeyForm::kConst) return false;
    inputs.push_back(held);
    return true;
  };
  const std::string_view node_def = graph_.bytes(node.id);
  if (!std::ranges::all_of(node.inputs, is_constant)) {
    before.clear();
    const GraphShapes* const known_shapes = folding::follows_from_shapes(op.name) ? shapes() : nullptr;
    if (known_shapes == nullptr) return {};
    const auto known = folding::known_value(*known_shapes, node.id, node_def, side_.folder());
    if (state_.ordered) before = waits_of_inputs(node);
    return known ? std::vector<ClassId>{constant(*known)} : std::vector<ClassId>();
  }
  // The same in every iteration.
  if (op.kinds.has(OpKind::kEnter) && entered(inputs[0], is_constant_enter(node_def)) == inputs[0])
    return {inputs[0]};
  if (!folding::is_foldable(op.name) && !folding::reads_shapes(op.name)) return {};
  const ClassId built = state_.classes.intern(node.labelled.label, inputs);
  const auto [found, fresh] = state_.folded.try_emplace(built);
  std::vector<ClassId>& outputs = found->second;
  if (!fresh) return outputs;
  std::vector<folding::ConstTensor> values;
  for (const ClassId input : inputs) {
    std::optional<folding::ConstTensor> value = state_.tensor(input);
    if (!value) return {};
    values.push_back(std::move(*value));
  }
  const folding::FoldOutcome outcome = side_.folder().fold(node_def, values);
  uint64_t bytes = 0;
  for (const folding::ConstTensor& output : outcome.outputs) bytes += folding::tensor_proto_size(output);
  if (bytes > state_.fold_left) return {};
  state_.fold_left -= bytes;
  for (const folding::ConstTensor& output : outcome.outputs) outputs.push_back(constant(output));
  return outputs;
}

// What gives what it reads, only in another shape, where that is the same shape: that of what it reads, or of
// what a Reshape before it reads.
bool Numbering::number_of_one_shape(Node& node) {
  if (node.data.empty() || !folding::only_shapes(node.op().name) || is_memory(node.data[0])) return false;
  const GraphShapes* const known_shapes = shapes();
  if (known_shapes == nullptr) return false;
  constexpr int kMostReshapes = 16;  // in a row that are gone over, with what hands on what it reads
  NodeId reader = node.id;
  In from = node.data[0];
  const bool reshapes = node.op().name == "Reshape";
  for (int step = 0; !folding::has_shape_of(*known_shapes, reader, node.id, reshapes); ++step) {
    if (state_.ordered || !reshapes || step == kMostReshapes) return false;
    if (!from.real() || from.index != 0) return false;
    reader = NodeId{from.node};
    const std::vector<In> ins = inputs_of(reader);
    if (ins.empty() || ins[0].control()) return false;
    if (graph_.op(reader) != "Reshape" && in_value(ins[0]).what != in_value(from).what) return false;
    from = ins[0];
  }
  if (state_.ordered && !waits_for_constants(node, 0)) return false;
  set(node.id, {after(node, in_value(from).what), node.when});
  return true;
}

// What gives one of its inputs for sure: of one alone, or multiplied or divided by 1.
bool Numbering::number_as_input(Node& node) {
  if (reads_memory(node)) return false;
  const std::string_view op = node.op().name;
  if (const auto input = given_input(state_, op, graph_.bytes(node.id), node.inputs)) {
    if (state_.ordered && !waits_for_constants(node, *input)) return false;
    set(node.id, {after(node, node.inputs[*input]), node.when});
    return true;
  }
  if (const auto given =
          state_.ordered ? std::nullopt : undone(state_, node.op(), graph_.bytes(node.id), node.inputs)) {
    set(node.id, {after(node, *given), node.when});
    return true;
  }
  const std::optional<ClassId> same = scaled_by_one(state_, op, node.inputs);
  if (!same || !stays_scaled_by_one(state_, *same, node.inputs[*same == node.inputs[0] ? 1 : 0]))
    return false;
  set(node.id, {after(node, *same), node.when});
  return true;
}

ClassId Numbering::constant(const folding::ConstTensor& value) {
  return state_.constant(side_.model().arena->keep(folding::tensor_proto_of(value)));
}

// Of a node that is in neither graph.
const Labelled& Numbering::labelled(std::string_view node_def) {
  NodeText text;
  return side_.labels().of(side_.model().arena->keep(std::string(node_def)), text);
}

ClassId Numbering::int32_constant(int64_t number) {
  return state_.constant(side_.model().arena->keep(scalar_proto(DType::kInt32, number)));
}

void Numbering::number_plain(Node& node) {
  const ProofOp& op = node.op();
  LabelId label = node.labelled.label;
  const auto relabel = [&](std::string_view more, std::string_view unknown) {
    const Label old = state_.classes.label(label);
    label = state_.classes.label(KeyForm::kNode, old.text + std::string(more),
                                 old.unknown.empty() ? unknown : std::string_view(old.unknown));
  };
  bool is_own = false;
  switch (op.conduct) {
    case Conduct::kRandom:
      if (!node.labelled.seeded) break;
      if (in_body()) relabel("", "draws at random in a function");
      if (frames_[index_of(node.id)] > 0) relabel("", "draws at random in a loop");
      is_own = true;
      break;
    case Conduct::kFresh:
      if (in_body()) {
        relabel("", "is made anew in a function");
      } else if (op.kinds.has(OpKind::kTemporary) &&
                 side_.shared_by_two(name_of_state(graph_.bytes(node.id)))) {
        relabel("", "shares its state with another node");
      }
      is_own = true;
      break;
    case Conduct::kInPlace:
    case Conduct::kUnknown:
      is_own = true;
      break;
    case Conduct::kWrites:
      if (in_body()) relabel("", "has an effect in a function");
      if (!op.takes_handles) relabel("\nnode=" + side_.name_in_a(node.text.name), "");
      is_own = true;
      break;
    case Conduct::kReads:
      is_own = state_.ordered;
      if (is_own && in_body() && op.takes_handles) relabel("", "reads in a function while something writes");
      break;
    default:
      for (const In& in : node.data) {
        is_own = is_own || (state_.ordered && in.real() &&
                            side_.labels().op(node_op(graph_.bytes(NodeId{in.node}))).gives_references);
      }
      break;
  }
  if (node.labelled.commutes && node.inputs.size() == 2 && node.inputs[0] > node.inputs[1])
    std::swap(node.inputs[0], node.inputs[1]);
  // Of a Reshape of a Reshape the last one's shape counts; what that reads is none any more.
  const auto is_reshape = [&](ClassId id) {
    const Label& of = state_.classes.label_of(id);
    return of.form == KeyForm::kNode && of.text.starts_with("Reshape\n") &&
           state_.classes.inputs(id).size() == 2;
  };
  if (op.name == "Reshape" && node.inputs.size() == 2 && is_reshape(node.inputs[0]) &&
      !(state_.ordered && state_.classes.happens(state_.classes.inputs(node.inputs[0])[1])))
    node.inputs[0] = state_.classes.inputs(node.inputs[0])[0];
  ClassId what = after(node, after_arrays(node, state_.classes.intern(label, node.inputs)));
  if (is_own) what = own(node, what);
  set(node.id, {what, node.when});
}

}  // namespace gedit
