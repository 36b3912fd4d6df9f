#include "optimize/outside.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/map_entry.h"
#include "edit/around/map.h"
#include "edit/basis/facts.h"
#include "edit/objects/signature_parts.h"
#include "model/summary.h"
#include "select/selection.h"

namespace gedit::optimizing {
namespace {

// Marks nodes of a net by number.
class Marks {
 public:
  explicit Marks(Subject& subject) : subject_(subject) {
    subject.kept.assign(subject.net.size(), false);
    subject.kept_more.assign(subject.net.size(), false);
    subject.untouched.assign(subject.net.size(), false);
    subject.bypassed.assign(subject.net.size(), false);
  }
  void keep(Number n) {
    if (n >= subject_.kept.size()) return;
    subject_.kept[n] = true;
    asked_.insert(n);
  }
  void keep(In in) {
    if (in.argument()) return;
    keep(in.node);
    if (in.index != 0 && !in.control()) subject_.kept_more[in.node] = true;
  }
  void ask(Number n) { asked_.insert(n); }
  void finish() { subject_.asked.assign(asked_.begin(), asked_.end()); }

 private:
  Subject& subject_;
  std::set<Number> asked_;
};

// What the wanted tensors need; all other nodes of a reduced graph are there for its state.
std::vector<bool> needed_by(const Net& net, const std::vector<Number>& wanted) {
  std::vector<bool> needed(net.size());
  std::vector<Number> open = wanted;
  for (const Number n : open) needed[n] = true;
  while (!open.empty()) {
    const Number n = open.back();
    open.pop_back();
    for (const In& in : net.inputs(n)) {
      if (in.argument() || needed[in.node]) continue;
      needed[in.node] = true;
      open.push_back(in.node);
    }
  }
  return needed;
}

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

}  // namespace

std::vector<std::string> Wanted::all() const {
  std::vector<std::string> both = outputs;
  both.insert(both.end(), inputs.begin(), inputs.end());
  both.insert(both.end(), kept.begin(), kept.end());
  return both;
}

Wanted wanted_by(const Model& model, const OptimizeRequest& request) {
  if (!request.outputs.empty()) {
    if (!request.signatures.empty())
      throw Error(Cause::kUsage, "--outputs and --signature exclude each other");
    return {request.outputs, {}, {}};
  }
  std::set<std::string> outputs, inputs;
  std::set<std::string> keys(request.signatures.begin(), request.signatures.end());
  for (const SignatureSummary& signature : list_signatures(model.meta())) {
    if (!request.signatures.empty() && keys.erase(signature.key) == 0) continue;
    for (const auto& [key, tensor] : signature.outputs) outputs.insert(tensor.tensor);
    for (const auto& [key, tensor] : signature.inputs) inputs.insert(tensor.tensor);
  }
  if (!keys.empty()) throw refused("no such signature").of(quoted("signature", *keys.begin()));
  if (outputs.empty() && request.reduce)
    throw Error(Cause::kUsage, "what is to be kept?").hint("--outputs T,..");
  return {{outputs.begin(), outputs.end()}, {inputs.begin(), inputs.end()}, {}};
}

void protect(Model& model, Registry& ops, const OptimizeRequest& request, const Wanted& wanted,
             Subject& subject) {
  Net& net = subject.net;
  Marks marks(subject);
  Facts facts(model, ops);
  std::vector<Number> outputs;
  for (const std::string& text : wanted.all()) {
    const TensorRef tensor = find_tensor(model, facts.names(), ops, text, true);
    outputs.push_back(index_of(tensor.node));
    marks.keep(tensor.control ? control_of(index_of(tensor.node)) : In{index_of(tensor.node), tensor.index});
  }
  subject.fed.assign(net.size(), false);
  for (const SignatureSummary& signature : list_signatures(model.meta())) {
    for (const auto& [key, input] : signature.inputs) {
      const auto in = net.find(input.tensor);
      if (in && !in->argument() && !net.data(in->node).empty()) subject.fed[in->node] = true;
    }
  }
  if (!request.keep.empty()) {
    for (const NodeId id : facts.selecting().require(request.keep).nodes.nodes()) {
      marks.keep(index_of(id));
      subject.kept_more[index_of(id)] = net.outputs(index_of(id)) != 1;
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
      subject.bypassed[n] = true;
    }
  }
  for (const std::string& name : request.bypass_nodes) {
    const Number n = net.find_node(name);
    if (n == In::kArgument || net.data(n).empty() || subject.kept[n]) continue;
    const DType given = base_type(net.type({n, 0}));
    subject.bypassed[n] = given != DType::kInvalid && given == base_type(net.type(net.data(n)[0]));
  }
  keep_state(facts, marks);
  if (!request.reduce) {
    each_name_around(model.meta(), [&](const SchemaField&, std::string_view name, int) {
      if (const auto in = net.find(name)) marks.keep(*in);
    });
    keep_sinks(net, request.passes.drops, marks);
    return marks.finish();
  }
  // What is only there for the state stays as it is, and so does what it reads.
  const std::vector<bool> needed = needed_by(net, outputs);
  for (Number n = 0; n < net.size(); ++n) {
    if (!net.there(n) || needed[n]) continue;
    subject.untouched[n] = true;
    marks.ask(n);
    for (const In& in : net.inputs(n)) marks.keep(in);
  }
  marks.finish();
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
