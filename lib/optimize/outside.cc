#include "optimize/outside.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/map_entry.h"
#include "edit/around/map.h"
#include "edit/basis/facts.h"
#include "edit/basis/unfilled.h"
#include "edit/objects/signature_parts.h"
#include "model/summary.h"
#include "optimize/reduce.h"
#include "select/selection.h"

namespace gedit::optimizing {
namespace {

constexpr uint32_t kUnknownRank = 3;  // of a TensorShapeProto

// Marks nodes of a net by number.
class Marks {
 public:
  explicit Marks(Subject& subject) : subject_(subject) {
    subject.kept = subject.kept_more = subject.untouched = subject.bypassed = NodeSet(subject.net.size());
  }
  void keep(Number n) {
    if (n >= subject_.kept.size()) return;
    subject_.kept.add(NodeId{n});
    asked_.insert(n);
  }
  void keep(In in) {
    if (in.argument()) return;
    keep(in.node);
    if (in.index != 0 && !in.control()) subject_.kept_more.add(NodeId{in.node});
  }
  void ask(Number n) { asked_.insert(n); }
  void finish() { subject_.asked.assign(asked_.begin(), asked_.end()); }

 private:
  Subject& subject_;
  std::set<Number> asked_;
};

void keep_state(Facts& facts, Marks& marks) {
  for (const auto& [index, state] : facts.state()) {
    marks.keep(Number{index});
    for (const NodeId satellite : state.satellites) marks.keep(index_of(satellite));
    if (state.initializer != kNoNode) marks.keep(index_of(state.initializer));
  }
}

void keep_sinks(const Net& net, const Droppable& drops, Marks& marks) {
  std::vector<bool> read(net.size());
  for (Number n = 0; n < net.size(); ++n) {
    if (!net.there(n)) continue;
    for (const In& in : net.inputs(n)) {
      if (!in.argument()) read[in.node] = true;
    }
  }
  for (Number n = 0; n < net.size(); ++n) {
    if (!net.there(n) || read[n]) continue;
    marks.ask(n);
    if (is_dropped(drops, net.what(n)) && net.what(n) != What::kSummary) continue;
    marks.keep(n);
  }
}

// The first nodes read what `instead` says.
template <typename Instead>
void rewire(Graph& graph, uint32_t nodes, Instead instead) {
  for (uint32_t i = 0; i < nodes; ++i) {
    if (graph.removed(NodeId{i})) continue;
    std::vector<std::string> inputs = inputs_of(graph.bytes(NodeId{i}));
    bool changes = false;
    for (std::string& input : inputs) {
      std::string other = instead(input);
      changes = changes || other != input;
      input = std::move(other);
    }
    if (changes) graph.replace(NodeId{i}, with_inputs(graph.bytes(NodeId{i}), inputs));
  }
}

}  // namespace

std::vector<std::string> Wanted::fetched() const {
  std::vector<std::string> both = outputs;
  both.insert(both.end(), inputs.begin(), inputs.end());
  return both;
}

std::vector<std::string> Wanted::all() const {
  std::vector<std::string> all = fetched();
  all.insert(all.end(), kept.begin(), kept.end());
  return all;
}

Wanted wanted_by(const Model& model, const OptimizeRequest& request) {
  if (!request.outputs.empty()) {
    if (!request.signatures.empty())
      throw Error(Cause::kUsage, "--outputs and --signature exclude each other");
    Wanted wanted;
    // Signatures go with what only they need.
    for (const std::string& text : request.outputs)
      wanted.outputs.push_back(signature_tensor(model, text).value_or(text));
    return wanted;
  }
  std::set<std::string> outputs, inputs;
  std::set<std::string> keys(request.signatures.begin(), request.signatures.end());
  for (const SignatureSummary& signature : list_signatures(model.meta())) {
    if (!request.signatures.empty() && keys.erase(signature.key) == 0) continue;
    for (const auto& [key, output] : signature.outputs) {
      for (const std::string& tensor : output.tensors()) outputs.insert(tensor);
    }
    for (const auto& [key, input] : signature.inputs) {
      for (const std::string& tensor : input.tensors()) inputs.insert(tensor);
    }
  }
  if (!keys.empty()) throw refused("no such signature").of(quoted("signature", *keys.begin()));
  if (outputs.empty() && request.reduce)
    throw Error(Cause::kUsage, "what is to be kept?").hint("--outputs T,..");
  return {{outputs.begin(), outputs.end()}, {inputs.begin(), inputs.end()}, {}};
}

std::vector<NodeId> nodes_to_keep(Model& model, Registry& ops, const OptimizeRequest& request) {
  if (request.keep.empty()) return {};
  return Selecting(model, ops).require(request.keep).nodes.nodes();
}

void keep_fillers(Model& model, Registry& ops, const std::vector<std::string>& ends, Wanted& wanted) {
  const Graph& graph = model.graph();
  if (!graph.has_any(OpKind::kIterator)) return;
  Facts facts(model, ops);
  NodeSet ended(graph.size()), needed(graph.size()), kept(graph.size());
  for (const std::string& text : ends) {
    if (const auto tensor = tensor_if_there(facts.names(), text)) ended.add(tensor->node);
  }
  for (const std::string& text : wanted.all())
    needed.add(find_tensor(model, facts.names(), ops, text, true).node);
  const auto keep = [&](NodeId id) {
    if (kept.add(id)) wanted.kept.emplace_back(graph.name(id));
  };
  constexpr int kMostRounds = 16;  // datasets that read iterators
  size_t count = 0;
  for (int round = 0; round < kMostRounds && count != needed.count(); ++round) {
    needed.spread(true, [&](NodeId id, const auto& go) {
      for (const NodeId producer : facts.producers().of(id)) {
        if (producer != kNoNode && !ended.has(id)) go(producer);
      }
    });
    count = needed.count();
    for (uint32_t i = 0; i < graph.size(); ++i) {
      const NodeId id{i};
      if (!needed.has(id) || !graph.is(id, OpKind::kIterator)) continue;
      for (const NodeId filler : fillers_of(facts, id)) {
        keep(filler);
        needed.add(filler);
      }
    }
  }
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const NodeId id{i};
    if (graph.removed(id) || !graph.is(id, OpKind::kNoOp)) continue;
    const auto runs = facts.producers().of(id);
    if (!runs.empty() &&
        std::ranges::all_of(runs, [&](NodeId run) { return run != kNoNode && kept.has(run); }))
      keep(id);
  }
}

bool protect(Model& model, Registry& ops, const OptimizeRequest& request, const Wanted& wanted,
             Subject& subject, const GraphIndex* known) {
  Net& net = subject.net;
  Marks marks(subject);
  Facts facts(model, ops, known);
  std::vector<Number> outputs;
  for (const std::string& text : wanted.all()) {
    const TensorRef tensor = find_tensor(model, facts.names(), ops, text, true);
    outputs.push_back(index_of(tensor.node));
    marks.keep(tensor.control ? control_of(index_of(tensor.node)) : In{index_of(tensor.node), tensor.index});
  }
  if (!request.keep.empty()) {
    for (const NodeId id : facts.selecting().require(request.keep).nodes.nodes()) {
      marks.keep(index_of(id));
      if (net.outputs(index_of(id)) != 1) subject.kept_more.add(id);
    }
  }
  for (const std::string& selector : request.bypass) {
    for (const NodeId id : facts.selecting().require(selector).nodes.nodes()) {
      const Number n = index_of(id);
      if (net.data(n).size() != 1 || net.outputs(n) != 1)
        throw refused("has not one input and one output").of(quoted("node", net.name(n)));
      const DType given = base_type(net.type({n, 0})), read = base_type(net.type(net.data(n)[0]));
      if (given == DType::kInvalid || given != read)
        throw refused("gives " + std::string(dtype_name(given)) + " and reads " +
                      std::string(dtype_name(read)) + ", so that its readers cannot read what it reads")
            .of(quoted("node", net.name(n)));
      subject.bypassed.add(id);
    }
  }
  for (const std::string& name : request.bypass_nodes) {
    const Number n = net.find_node(name);
    if (n == In::kArgument || net.data(n).empty() || subject.is_kept(n)) continue;
    const DType given = base_type(net.type({n, 0}));
    if (given != DType::kInvalid && given == base_type(net.type(net.data(n)[0])))
      subject.bypassed.add(NodeId{n});
  }
  for (const auto& [name, tensor] : request.stand_ins) {
    const Number n = net.find_node(name);
    if (n == In::kArgument || !net.there(n)) continue;
    subject.untouched.add(NodeId{n});
    for (const In& in : net.inputs(n)) marks.keep(in);
  }
  keep_state(facts, marks);
  // An object that is a constant, and what an asset is read from, go by the names of their Consts.
  each_name_around(model.meta(), [&](const SchemaField&, std::string_view name, int) {
    const std::optional<In> in = net.find(name);
    if (in && (!request.reduce || net.is(in->node, OpKind::kConst))) marks.keep(*in);
  });
  if (!request.reduce) {
    keep_sinks(net, request.passes.drops, marks);
    marks.finish();
    return false;
  }
  // Without state there is nothing else.
  if (request.graph_alone && has_nodes_alone(model)) {
    marks.finish();
    return true;
  }
  // What is only there for the state stays as it is, and so does what it reads.
  const NodeSet needed = net.needed_by(outputs);
  for (Number n = 0; n < net.size(); ++n) {
    if (!net.there(n) || needed.has(NodeId{n})) continue;
    subject.untouched.add(NodeId{n});
    marks.ask(n);
    for (const In& in : net.inputs(n)) marks.keep(in);
  }
  marks.finish();
  return false;
}

StandIns stand_in_for_inputs(Model& model, Registry& ops, const std::vector<std::string>& fixed) {
  Graph& graph = model.graph();
  graph.decode();
  const std::vector<SignatureSummary> signatures = list_signatures(model.meta());
  if (signatures.empty()) return {};
  const Names names(graph);
  NewNames new_names(names);
  std::map<std::pair<uint32_t, uint32_t>, std::string> stand_ins;  // by tensor; empty where there is none
  for (const std::string& text : fixed) {
    if (const auto tensor = tensor_if_there(names, text.substr(0, text.find('='))))
      stand_ins[{index_of(tensor->node), tensor->index}];
  }
  std::string unknown_rank;
  append_varint_field(unknown_rank, kUnknownRank, 1);
  const std::string unknown_shape = bytes_field(attr_field::kShape, unknown_rank);
  StandIns made;
  const auto stand_in = [&](const std::string& text, DType stated) {
    const std::optional<TensorRef> tensor = tensor_if_there(names, text);
    if (!tensor || tensor->control || graph.is(tensor->node, OpKind::kPlaceholder)) return;
    const DType known = output_type(ops, graph.bytes(tensor->node), tensor->index);
    const DType type = known != DType::kInvalid ? known : stated;
    // A reference is known by nothing but its name as it is.
    if (type == DType::kInvalid || type != base_type(type)) return;
    const auto [found, fresh] = stand_ins.try_emplace({index_of(tensor->node), tensor->index});
    if (!fresh) return;
    found->second = new_names.free("fed/" + std::to_string(made.size()));
    NodeBuilder node(found->second, "PlaceholderWithDefault");
    node.input(tensor_text(graph, *tensor)).type("dtype", type).attr("shape", unknown_shape);
    made.emplace(found->second, tensor_text(graph, *tensor));
    graph.append(node.take());
  };
  for (const SignatureSummary& signature : signatures) {
    for (const auto& [key, input] : signature.inputs) {
      for (const std::string& text : input.tensors())
        stand_in(text, input.tensor.empty() ? DType::kInvalid : input.dtype.value_or(DType::kInvalid));
    }
  }
  if (made.empty()) return made;
  const auto read_through = [&](std::string_view input) -> std::string {
    const Input parsed = parse_input(input);
    const NodeId node = parsed.control ? kNoNode : names.find(parsed.node);
    const auto found = node == kNoNode ? stand_ins.end() : stand_ins.find({index_of(node), parsed.index()});
    return found == stand_ins.end() || found->second.empty() ? std::string(input) : found->second;
  };
  rewire(graph, graph.size() - static_cast<uint32_t>(made.size()), read_through);
  return made;
}

void remove_stand_ins(Graph& graph, const StandIns& names) {
  if (names.empty()) return;
  graph.decode();
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (!graph.removed(NodeId{i}) && names.contains(graph.name(NodeId{i}))) graph.remove(NodeId{i});
  }
  rewire(graph, graph.size(), [&](std::string_view input) -> std::string {
    const Input parsed = parse_input(input);
    const auto found = names.find(parsed.node);
    if (found == names.end()) return std::string(input);
    return parsed.control ? "^" + std::string(parse_input(found->second).node) : found->second;
  });
}

void drop_contexts(MetaGraph& meta) {
  std::vector<std::string> kept;
  bool any = false;
  for (const std::string_view bytes : meta.parts_of(meta_field::kCollection)) {
    const std::string_view key = map_entry(bytes).key;
    const bool context = key == "cond_context" || key == "while_context";
    any = any || context;
    if (!context) kept.emplace_back(bytes);
  }
  if (any) meta.set_parts(meta_field::kCollection, std::move(kept));
}

}  // namespace gedit::optimizing
