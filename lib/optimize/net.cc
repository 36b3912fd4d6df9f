#include "optimize/net.h"

#include <algorithm>

#include "base/error.h"
#include "graph/index.h"
#include "graph/library.h"
#include "graph/references.h"
#include "graph/types.h"
#include "graph/wiring.h"

namespace gedit::optimizing {

Net::Net(Graph& graph, Registry& ops, Labels& labels)
    : graph_(graph),
      ops_(ops),
      labels_(labels),
      names_(graph),
      new_names_(names_),
      nodes_(graph.size()),
      ops_there_{labels} {
  if (in_body()) {
    for (const std::string_view name : argument_names(function_signature(graph))) {
      arguments_.emplace(name, static_cast<uint32_t>(argument_names_.size()));
      argument_names_.push_back(name);
      new_names_.reserve(name);
    }
  }
  const OpsOf<OpTable> ops_of(graph, ops_there_);
  for (Number n = 0; n < size(); ++n) {
    if (graph.removed(NodeId{n})) continue;
    Node& node = nodes_[n];
    node.there = true;
    put_def(node, graph.bytes(NodeId{n}), ops_of.of(NodeId{n}));
  }
  std::vector<In> controls;
  const Edges sources = producers(graph, names_);
  for (Number n = 0; n < size(); ++n) {
    Node& node = nodes_[n];
    if (!node.there) continue;
    node.begin = static_cast<uint32_t>(ins_.size());
    controls.clear();
    const NodeId* source = sources.of(NodeId{n}).data();
    each_input(node.def, [&](std::string_view text) {
      const std::optional<In> in =
          sources.complete() ? input_from(index_of(*source++), parse_input_of(graph_, text)) : find(text);
      if (!in)
        throw refused("reads '" + printable(text) + "', which is not there")
            .of(quoted("node", node_name(node.def)))
            .hint("gedit check");
      if (in->control()) {
        controls.push_back(*in);
      } else {
        ins_.push_back(*in);
      }
    });
    node.data = static_cast<uint32_t>(ins_.size()) - node.begin;
    ins_.insert(ins_.end(), controls.begin(), controls.end());
    node.count = static_cast<uint32_t>(ins_.size()) - node.begin;
  }
}

Number Net::find_node(std::string_view name) const {
  const NodeId id = names_.find(name);
  if (id != kNoNode) return index_of(id);
  const auto found = added_.find(name);
  return found == added_.end() ? In::kArgument : found->second;
}

// The number of an output that a body calls by name.
std::optional<uint32_t> Net::port(Number producer, std::string_view port) const {
  const ProofOp& op = *nodes_[producer].op;
  const BodyPort wanted = parse_body_port(port);
  if (op.known && !op.def.outputs.empty() && op.def.outputs[0].name == wanted.output) return wanted.number;
  return body_output_index(ops_, def(producer), port);
}

std::optional<In> Net::find(std::string_view text) const {
  const Input input = parse_input_of(graph_, text);
  if (in_body() && !input.control) {
    const auto argument = arguments_.find(input.node);
    if (argument != arguments_.end() && input.port.empty()) return In{In::kArgument, argument->second};
  }
  const Number n = find_node(input.node);
  if (n == In::kArgument) return std::nullopt;
  return input_from(n, input);
}

std::optional<In> Net::input_from(Number n, const Input& input) const {
  if (input.control) return control_of(n);
  const std::optional<uint32_t> index = in_body() ? port(n, input.port) : input.index();
  if (!index || *index == In::kControl) return std::nullopt;  // no node has as many outputs
  return In{n, *index};
}

LabelId Net::label(Number n) {
  Node& node = nodes_[n];
  if (node.label == kNoLabel) node.label = labels_.of(node.def, text_).label;
  return node.label;
}

const Net::OpFacts& Net::OpTable::of(std::string_view op) {
  const ProofOp* const proof_op = &labels.op(op);
  const auto found = known.find(proof_op);
  return found != known.end() ? found->second
                              : known.emplace(proof_op, OpFacts{proof_op, what_of(op)}).first->second;
}

void Net::put_def(Node& node, std::string_view def, const OpFacts& facts) {
  node.def = def;
  node.op = facts.op;
  node.what = facts.what;
}

void Net::put_inputs(Node& node, const std::vector<In>& inputs) {
  uint32_t data = 0;
  while (data < inputs.size() && !inputs[data].control()) ++data;
  if (inputs.size() > node.count) {
    node.begin = static_cast<uint32_t>(ins_.size());
    ins_.insert(ins_.end(), inputs.begin(), inputs.end());
  } else {
    std::copy(inputs.begin(), inputs.end(), ins_.begin() + node.begin);
  }
  node.count = static_cast<uint32_t>(inputs.size());
  node.data = data;
  node.rewired = true;
  changed_ = true;
}

void Net::set_inputs(Number n, const std::vector<In>& inputs) { put_inputs(nodes_[n], inputs); }

void Net::become(Number n, std::string node_def, const std::vector<In>& inputs) {
  Node& node = nodes_[n];
  const std::string_view def = graph_.arena()->keep(std::move(node_def));
  put_def(node, def, ops_there_.of(node_op(def)));
  node.label = kNoLabel;
  node.made = true;
  put_inputs(node, inputs);
}

Number Net::append(std::string_view base, std::string_view op,
                   std::vector<std::pair<std::string, std::string>> attrs, std::string_view device,
                   const std::vector<In>& inputs) {
  NodeBuilder builder(new_names_.free(base), op);
  builder.device(device);
  for (const auto& [key, value] : attrs) builder.attr(key, value);
  Node node;
  node.there = true;
  const std::string_view def = graph_.arena()->keep(builder.take());
  put_def(node, def, ops_there_.of(node_op(def)));
  node.made = true;
  put_inputs(node, inputs);
  nodes_.push_back(node);
  added_.emplace(node_name(node.def), size() - 1);
  return size() - 1;
}

void Net::remove(Number n) {
  nodes_[n].there = false;
  changed_ = true;
}

uint32_t Net::outputs(Number n) {
  std::vector<DType> types;
  const ProofOp& op = *nodes_[n].op;
  return op.known && output_types(op.def, def(n), types) ? static_cast<uint32_t>(types.size()) : 0;
}

DType Net::type(In in) {
  if (in.argument() || in.control()) return DType::kInvalid;
  std::vector<DType> types;
  const ProofOp& op = *nodes_[in.node].op;
  if (!op.known || !output_types(op.def, def(in.node), types) || in.index >= types.size())
    return DType::kInvalid;
  return types[in.index];
}

std::string Net::text(In in) const {
  if (in.argument()) return std::string(argument_names_[in.index]);
  if (in.control()) return "^" + std::string(name(in.node));
  if (!in_body()) return tensor_text(name(in.node), in.index);
  const std::optional<std::string> text = body_output_text(ops_, def(in.node), name(in.node), in.index);
  if (!text) throw refused("has an output that has no name").of(quoted("node", name(in.node)));
  return *text;
}

// Without entries of `_class` that name what is gone.
std::string Net::colocated(std::string_view node_def, const std::unordered_set<std::string_view>& gone) {
  const auto value = find_attr(node_def, "_class");
  if (!value) return {};
  std::vector<std::string> entries;
  bool changed = false;
  for (Fields list(last_bytes(*value, attr_field::kList)); list.next();) {
    if (!list->bytes(attr_field::kString)) continue;
    const auto node = colocated_with(list->value);
    const bool stays = !node || !gone.contains(*node);
    if (stays) entries.emplace_back(list->value);
    changed = changed || !stays;
  }
  if (!changed) return {};
  std::optional<std::string> left;
  if (!entries.empty()) left = string_list_value(entries);
  return with_attr(node_def, "_class", left);
}

void Net::store() {
  std::unordered_set<std::string_view> gone;
  for (Number n = 0; n < size(); ++n) {
    if (!nodes_[n].there && nodes_[n].def.data() != nullptr) gone.insert(name(n));
  }
  for (Number n = 0; n < size() && !gone.empty(); ++n) {
    Node& node = nodes_[n];
    if (!node.there) continue;
    std::string def = colocated(node.def, gone);
    if (def.empty()) continue;
    node.def = graph_.arena()->keep(std::move(def));
    node.made = true;
  }
  // In a body an input names the output by the op's own word, and another op has others.
  std::vector<bool> became(size());
  for (Number n = 0; n < size(); ++n) became[n] = nodes_[n].made;
  for (Number n = 0; n < size(); ++n) {
    Node& node = nodes_[n];
    const bool stands = n < graph_.size();
    if (!node.there) {
      if (stands && !graph_.removed(NodeId{n})) graph_.remove(NodeId{n});
      continue;
    }
    const bool reads_made = std::ranges::any_of(
        inputs(n), [&](const In& in) { return !in.argument() && !in.control() && became[in.node]; });
    if (!node.rewired && !node.made && !reads_made) continue;
    std::vector<std::string> texts;
    for (const In& in : inputs(n)) texts.push_back(text(in));
    std::string made = with_inputs(node.def, texts);
    if (stands) {
      graph_.replace(NodeId{n}, std::move(made));
    } else {
      graph_.append(std::move(made));
    }
    node.rewired = node.made = false;
  }
  changed_ = false;
}

}  // namespace gedit::optimizing
