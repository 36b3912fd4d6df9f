#include "prove/numbering.h"

#include <algorithm>

#include "graph/node_front.h"

namespace gedit {

Numbering::Numbering(Side& side, ProofState& state, const Graph& graph, const Names& names)
    : side_(side),
      state_(state),
      graph_(graph),
      names_(names),
      state_of_(graph_.size()),
      values_(graph_.size()),
      frames_(graph_.size()),
      depends_on_loop_(graph_.size()),
      of_array_(graph_.size()),
      follows_(graph_.size()) {
  if (state.ordered) {
    done_.resize(graph_.size());
    is_memory_.resize(graph_.size());
  }
}

Numbering::Numbering(Side& side, ProofState& state) : Numbering(side, state, side.graph(), side.names()) {
  if (state.whiles_as_loops) place_.path = CallPlace::kMain;
}

Numbering::Numbering(Side& side, ProofState& state, CalledBody& body, std::vector<ProofTensor> arguments,
                     CallPlace place)
    : Numbering(side, state, body.graph, body.names) {
  body_ = &body;
  arguments_ = std::move(arguments);
  place_ = place;
}

// --- the walk ---

void Numbering::want(NodeId node) {
  const auto begin = [&](NodeId id) {
    state_of_[index_of(id)] = kOpen;
    const auto first = static_cast<uint32_t>(ins_.size());
    const bool twin = may_be_twin(id);
    if (twin) {
      for (const NodeId producer : side_.producers().of(id)) ins_.push_back({index_of(producer), 0});
    } else {
      resolve(id, ins_);
    }
    steps_.push_back({id, first, first & INT32_MAX, twin ? 1U : 0U});
  };
  std::vector<NodeId> roots{node};
  size_t seen = loop_variables_.size();
  while (!roots.empty()) {
    const NodeId root = roots.back();
    roots.pop_back();
    if (state_of_[index_of(root)] == kNew) begin(root);
    while (!steps_.empty()) {
      Step& step = steps_.back();
      if (step.next == ins_.size()) {
        const Step done = step;
        if (done.twin == 0 || !number_as_twin(done.node)) {
          if (done.twin != 0) resolve_again(done.node, done.begin);
          number(done.node, std::span(ins_).subspan(done.begin));
        }
        state_of_[index_of(done.node)] = kDone;
        ++reached_;
        ins_.resize(done.begin);
        steps_.pop_back();
        continue;
      }
      const In in = ins_[step.next++];
      if (!in.real() || state_of_[in.node] == kDone) continue;
      if (is_back_edge(step.node, in)) continue;
      if (state_of_[in.node] == kNew) {
        begin(NodeId{in.node});  // `step` may be gone
      } else {
        ins_[step.next - 1].node = In::kMissing;  // a cycle that is no loop
      }
    }
    // What goes back into a loop is numbered behind what comes in.
    for (; seen < loop_variables_.size(); ++seen) {
      const std::vector<In> ins = inputs_of(loop_variables_[seen].merge);
      for (const In& in : ins) {
        if (in.real() && state_of_[in.node] == kNew) roots.push_back(NodeId{in.node});
      }
    }
  }
}

bool Numbering::is_back_edge(NodeId merge, const In& in) const {
  return !in.control() && graph_.is(merge, OpKind::kMerge) &&
         graph_.is(NodeId{in.node}, OpKind::kNextIteration);
}

// --- what the other graph's numbering knows ---

void Numbering::set_twin(const Numbering& twin) {
  const bool complete = side_.producers().complete() && twin.side_.producers().complete();
  const bool plain = !side_.has_functions() && side_.given.empty() && side_.assumed.empty();
  if (complete && plain && &side_.ops() == &twin.side_.ops()) twin_ = &twin;
}

// Whether the twin has numbered the same bytes at the same place, by nothing but these and what they read.
bool Numbering::may_be_twin(NodeId node) const {
  return twin_ != nullptr && index_of(node) < twin_->graph_.size() && twin_->follows_[index_of(node)] &&
         (twin_->values_[index_of(node)].what & kMany) == 0 &&
         twin_->graph_.place(node) == graph_.place(node);
}

// The same bytes that read the same values give the same value: numbering them again would ask the same of
// the same and come to the same class. Which outputs they read the bytes say, so what counts is that the
// nodes behind give the same, input by input.
bool Numbering::number_as_twin(NodeId node) {
  const std::span<const NodeId> reads = side_.producers().of(node),
                                of_twin = twin_->side_.producers().of(node);
  if (reads.size() != of_twin.size()) return false;
  for (size_t i = 0; i < reads.size(); ++i) {
    const uint32_t from = index_of(reads[i]);
    const ProofTensor& value = values_[from];
    if (state_of_[from] != kDone || (value.what & kMany) != 0 ||
        value != twin_->values_[index_of(of_twin[i])])
      return false;
    if (special_ && (frames_[from] != 0 || depends_on_loop_[from] || of_array_[from])) return false;
  }
  values_[index_of(node)] = twin_->values_[index_of(node)];
  return true;
}

std::vector<Numbering::In> Numbering::inputs_of(NodeId node) {
  std::vector<In> ins;
  resolve(node, ins);
  return ins;
}

// Of a node whose inputs were gone to as nodes alone.
void Numbering::resolve_again(NodeId node, uint32_t begin) {
  ins_.resize(begin);
  resolve(node, ins_);
  for (In& in : std::span(ins_).subspan(begin)) {
    if (in.real() && state_of_[in.node] != kDone && !is_back_edge(node, in)) in.node = In::kMissing;
  }
}

// The number of an output that a body calls by name; most have one, or it is the first.
uint32_t Numbering::port_index(std::string_view node_def, std::string_view port) {
  const BodyPort wanted = parse_body_port(port);
  const ProofOp& op = side_.labels().op(node_op(node_def));
  if (op.known && !op.def.outputs.empty() && op.def.outputs[0].name == wanted.output) return wanted.number;
  if (op.def.outputs.size() > 1) {
    const bool lists = std::ranges::any_of(op.def.outputs, [](const ArgDef& arg) {
      return !arg.number_attr.empty() || !arg.type_list_attr.empty();
    });
    for (uint32_t i = 0; i < op.def.outputs.size() && !lists; ++i) {
      if (op.def.outputs[i].name == wanted.output) return i;
    }
  }
  return body_output_index(side_.ops(), node_def, port).value_or(In::kControl - 1);
}

Numbering::In Numbering::resolve_input(const Input& input) {
  if (in_body() && !input.control && input.port.empty()) {
    const auto argument = body_->arguments.find(input.node);
    if (argument != body_->arguments.end()) return {In::kArgument, argument->second};
  }
  const NodeId node = names_.find(input.node);
  if (node == kNoNode) return {In::kMissing, input.control ? In::kControl : 0};
  return input_from(node, input);
}

Numbering::In Numbering::input_from(NodeId node, const Input& input) {
  if (input.control) return {index_of(node), In::kControl};
  const uint32_t index = in_body() ? port_index(graph_.bytes(node), input.port) : input.index();
  if (index == In::kControl) return {In::kMissing, 0};  // no node has as many outputs
  if (!in_body() && !side_.given.empty()) {
    const auto given = side_.given.find(uint64_t{index_of(node)} << 32 | index);
    if (given != side_.given.end()) return {In::kGiven, given->second.what};
  }
  return {index_of(node), index};
}

void Numbering::resolve(NodeId node, std::vector<In>& ins) {
  const Edges* producers = in_body() ? nullptr : &side_.producers();
  if (producers != nullptr && producers->complete()) {
    const NodeId* producer = producers->of(node).data();
    each_input_of(graph_, node,
                  [&](std::string_view text) { ins.push_back(input_from(*producer++, parse_input(text))); });
    return;
  }
  each_input(graph_.bytes(node), [&](std::string_view text) { ins.push_back(resolve_input(text)); });
}

// --- values ---

ProofTensor Numbering::value(NodeId node, uint32_t index) {
  const ProofTensor value = values_[index_of(node)];
  if ((value.what & kMany) != 0) {
    const std::vector<ProofTensor>& outputs = outputs_[value.what & ~kMany];
    if (index < outputs.size()) return outputs[index];
    return {state_.unknown("output", "has no such output"), value.when};
  }
  if (index == 0 || value.when == kNever) return value;
  return {state_.classes.intern(KeyForm::kOutput, {value.what, index}), value.when};
}

ProofTensor Numbering::whole(NodeId node) {
  const ProofTensor value = values_[index_of(node)];
  if (state_.ordered) return {done_[index_of(node)], value.when};
  if ((value.what & kMany) == 0) return value;
  const std::vector<ProofTensor>& outputs = outputs_[value.what & ~kMany];
  if (outputs.size() == 1) return outputs[0];  // as of a node that is no call
  std::vector<uint32_t> all;
  bool unknown = false;
  for (const ProofTensor& output : outputs) {
    all.push_back(output.what);
    all.push_back(output.when);
    unknown = unknown || state_.conditions.unknown(output.when);
  }
  const ClassId id = state_.classes.intern(state_.classes.label(KeyForm::kMerge, "all outputs"), all);
  if (unknown) state_.classes.set_unknown(id);
  return {id, value.when};
}

ProofTensor Numbering::in_value(const In& in) {
  switch (in.node) {
    case In::kArgument:
      return arguments_[in.index];
    case In::kMissing:
      return {state_.unknown("input", "reads what is not there"), kAlways};
    case In::kGiven:
      return {in.index, kAlways};
    default:
      return assumed_value(NodeId{in.node}, in.index);
  }
}

ProofTensor Numbering::assumed_value(NodeId node, uint32_t index) {
  ProofTensor found = value(node, index);
  const AssumedTensors& all = in_body() ? body_->assumed : side_.assumed;
  // What it is the same as may itself be assumed to be another.
  for (int steps = 0; !all.empty() && steps < 10'000; ++steps) {
    const auto assumed = all.find(uint64_t{index_of(node)} << 32 | index);
    if (assumed == all.end()) break;
    const Assumed& as = assumed->second;
    if (as.argument) {
      found.what = arguments_[as.index].what;
      break;
    }
    if (as.node == kNoNode) {
      if (!state_.ordered) found.what = as.what;  // else it waits, too: number_assumed()
      break;
    }
    if (state_of_[index_of(as.node)] != kDone) break;
    node = as.node;
    index = as.index;
    found.what = value(node, index).what;
  }
  return found;
}

ProofTensor Numbering::value_of(std::string_view input) {
  const In in = resolve_input(input);
  if (in.real()) want(NodeId{in.node});
  return in_value(in);
}

// `when` it runs, which tells when those run that wait for it.
void Numbering::set_outputs(NodeId node, std::vector<ProofTensor> outputs, ConditionId when) {
  ProofTensor& value = values_[index_of(node)];
  value.when = when;
  if ((value.what & kMany) != 0) {
    outputs_[value.what & ~kMany] = std::move(outputs);
    return;
  }
  value.what = kMany | static_cast<uint32_t>(outputs_.size());
  outputs_.push_back(std::move(outputs));
}

// A class that no other node of this graph has.
ClassId Numbering::own(const Node& node, ClassId what) {
  if (in_body()) return what;  // what must not be one there is not known
  side_.owns[index_of(node.id)] = {what, node.when};
  const auto ordinal = side_.ordinals.find(index_of(node.id));
  const ClassId id = state_.classes.intern(
      KeyForm::kOwn, {what, ordinal == side_.ordinals.end() ? 0 : ordinal->second, node.when});
  if (state_.conditions.unknown(node.when)) state_.classes.set_unknown(id);
  return id;
}

NodeId Numbering::node_of(ClassId id) {
  if (node_of_.size() < state_.classes.size()) {
    node_of_.assign(state_.classes.size(), kNoNode);
    const auto note = [&](ClassId what, uint32_t i) {
      if (node_of_[what] == kNoNode) node_of_[what] = NodeId{i};
    };
    for (uint32_t i = 0; i < values_.size(); ++i) {
      if (state_of_[i] != kDone) continue;
      const ClassId what = values_[i].what;
      if ((what & kMany) == 0) {
        note(what, i);
        continue;
      }
      for (const ProofTensor& output : outputs_[what & ~kMany]) note(output.what, i);
    }
  }
  return node_of_[id];
}

}  // namespace gedit
