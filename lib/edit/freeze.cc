// gedit freeze: the part of a graph that some tensors need, its variables turned into constants.
#include "edit/edits.h"

#include <algorithm>

#include "base/error.h"
#include "checkpoint/open.h"
#include "edit/around/reduction.h"
#include "edit/basis/cut.h"
#include "edit/changing/bypassed_writers.h"
#include "edit/changing/freeze_warnings.h"
#include "edit/changing/frozen_variables.h"
#include "edit/changing/restored_contents.h"
#include "edit/changing/wanted_tensors.h"
#include "edit/functions/freeze.h"
#include "edit/savers/checkpoint_keys.h"
#include "edit/savers/values.h"
#include "model/folder.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

class Freezing {
 public:
  Freezing(Model& model, Registry& ops, const FreezeRequest& request)
      : request_(request),
        model_(model),
        graph_(model.graph()),
        wanted_(wanted_tensors(model, request.outputs, request.inputs, request.signature)),
        facts_(model, ops),
        fed_(cut_at_signature(facts_, wanted_)),
        variables_(facts_, request.keep) {
    result_.list_removed = request.want_changes;
  }

  FreezeChanges run() {
    Cut cut(facts_, wanted_.outputs, wanted_.inputs);
    const NodeSet concerned = may_stay(cut);
    HandleFlow flow(graph_, facts_.ops,
                    variables_.questions([&](NodeId id) { return concerned.has(id); }, nullptr));
    NewNames names(facts_.names());
    Pivots pivots(graph_, facts_.names(), names);
    const NodeSet moving =
        facts_.frames().any() ? moving_nodes(graph_, facts_.consumers()) : NodeSet(graph_.size());
    const GraphFreezing writing(
        graph_, flow, {facts_.ops, names, pivots, &facts_.frames(), {}, {}, &facts_.names(), &moving});
    const uint64_t variables = variables_.seed_all(flow, concerned);
    flow.run();
    HandleFlow kept_flow(graph_, facts_.ops, variables_.questions([](NodeId) { return true; }, nullptr));
    variables_.seed_kept(kept_flow);
    kept_flow.run();

    BypassedWriters writers(facts_, variables_, flow, kept_flow, writing);
    Closure closure(facts_, [&](NodeId reader, const TensorRef& tensor) {
      return cut.stops(tensor) ? std::nullopt : writers.follow(reader, tensor);
    });
    want_outputs(cut, flow, writing, closure);
    const auto want_awaited = [&] {
      for (size_t i = 0; i < writers.awaited().size(); ++i) closure.want(writers.awaited()[i]);
    };
    want_awaited();
    const std::vector<NodeId> needed = closure.found();
    variables_.freeze_needed(needed);

    Reduction reduction(facts_, closure);
    complete(reduction, closure);
    want_awaited();
    cut.apply(closure, changes());
    open_values();  // finds its keys in savers, which are made smaller next
    reduction.shrink_savers(changes());

    Library library = Library::decode(graph_.part(graph_field::kLibrary), model_.arena);
    FunctionFreezing functions(library, facts_.ops, model_.arena, [this](std::string_view node_def) {
      if (!values_) throw refused("1 variable and no checkpoint").hint("--checkpoint PREFIX");
      return values_->value_of_own(node_def);
    });
    variables_.freeze_owners(needed, library, functions);
    find_late_reads(flow, closure.nodes(), [&](NodeId id) { return writers.written_by(id); });
    writers.rewire_readers(closure.nodes(), pivots);
    convert(closure.nodes(), writers, names, pivots, functions);
    pivots.append();
    variables_.put_values(values_ ? &*values_ : nullptr, names, changes());
    result_.kept_keys = kept_keys(closure.nodes(), reduction);
    if (!functions.empty()) graph_.set_part(graph_field::kLibrary, functions.library());

    if (variables == 0 && !variables_.in_functions())
      changes().warnings.emplace_back("no variables: frozen already?");
    tell(closure.nodes(), writers, functions, reduction);
    reduction.apply(changes());
    return std::move(result_);
  }

 private:
  Changes& changes() { return result_; }

  [[noreturn]] void refuse_writer(NodeId writer, const HandleFlow& flow) const {
    throw outright_write(graph_, writer, flow.carried_inputs(writer).begin()->second->variable);
  }

  void find_late_reads(const HandleFlow& flow, const NodeSet& stays,
                       const std::function<std::set<std::string>(NodeId)>& written) {
    const std::vector<LateRead> found = late_reads(
        graph_, facts_.names(), flow, "", [&](NodeId id) { return stays.has(id); }, written);
    late_reads_.insert(late_reads_.end(), found.begin(), found.end());
  }

  // No other node is come by, nor what such a one reads, so that handles need not be followed elsewhere:
  // most of a training graph trains.
  NodeSet may_stay(const Cut& cut) const {
    const auto is_table = [](const auto& state) { return state.second.table; };
    const auto is_context = [](const Collection& collection) {
      const Schema* schema = collection_row(collection.key).schema;
      return schema == &kCondContextDef || schema == &kWhileContextDef;
    };
    NodeSet wanted(graph_.size());
    // With these more stays than what is needed.
    if (!variables_.kept().empty() || std::ranges::any_of(facts_.collections(), is_context) ||
        std::ranges::any_of(facts_.state(), is_table)) {
      for (uint32_t i = 0; i < graph_.size(); ++i) wanted.add(NodeId{i});
      return wanted;
    }
    for (const TensorRef& output : cut.outputs()) wanted.add(output.node);
    for (const NodeId input : fed_) wanted.add(input);
    return reach(wanted, facts_.producers(), kAnyDistance);
  }

  void want_outputs(const Cut& cut, const HandleFlow& flow, const GraphFreezing& writing,
                    Closure& closure) const {
    for (const TensorRef& output : cut.outputs()) {
      if (writing.writes(output.node)) refuse_writer(output.node, flow);
      closure.want(output.node);
    }
    for (const NodeId input : fed_) closure.want(input);
  }

  // Tables stay as they are, variables where they are kept.
  void complete(Reduction& reduction, const Closure& closure) {
    reduction.keep_state(
        [this](const StateOf& state) { return state.table || variables_.kept().has(state.node); });
    reduction.need_variables();
    reduction.complete();
    if (!variables_.any_kept_in(closure.nodes())) reduction.drop_objects();
    variables_.freeze_what_nothing_initializes(closure);
  }

  void open_values() {
    const bool needless =
        variables_.frozen().empty() && variables_.kept().empty() && !variables_.in_functions();
    if (request_.checkpoint.empty() || needless) return;
    const auto source =
        std::make_shared<ValueSource>(open_checkpoint(request_.checkpoint, &changes().warnings));
    values_.emplace(facts_, source, request_.checkpoint);
  }

  // Who reads a handle or reference of a variable that freezes reads its value.
  void convert(const NodeSet& stays, const BypassedWriters& writers, NewNames& names, Pivots& pivots,
               FunctionFreezing& functions) {
    HandleFlow flow(
        graph_, facts_.ops,
        variables_.questions([&stays](NodeId id) { return stays.has(id); }, &writers.new_readers()));
    GraphFreezing freezing(
        graph_, flow,
        {facts_.ops,
         names,
         pivots,
         &facts_.frames(),
         [&functions](std::string_view name, const std::map<uint32_t, Carried>& arguments) {
           return functions.specialise(name, arguments);
         },
         {},
         &facts_.names()});
    variables_.seed_frozen(flow);
    freezing.settle();
    find_late_reads(flow, stays, [&](NodeId id) { return freezing.written_by(id); });
    for (const NodeId writer : freezing.writers()) refuse_writer(writer, flow);
    freezing.convert();
    for (const NodeId id : writers.asking()) {  // of a variable that nothing else needs, and that is gone
      if (stays.has(id) && is(node_op(graph_.bytes(id)), OpKind::kNeedsNoValue)) freezing.answer(id);
    }
    for (const auto& [index, use] : flow.users())
      changes().changed.emplace_back(graph_.name(NodeId{index}), node_op(graph_.bytes(NodeId{index})));
  }

  // Of the variables that stay, and of what else their savers restore.
  std::vector<std::string> kept_keys(const NodeSet& stays, const Reduction& reduction) const {
    std::vector<std::string> keys;
    std::vector<NodeId> variables;
    for (const NodeId id : variables_.kept().nodes()) {
      if (!values_ || !stays.has(id)) continue;
      keys.push_back(values_->key_of(id));
      variables.push_back(id);
    }
    if (keys.empty()) return keys;
    for (std::string& key : reduction.object_keys(variables)) keys.push_back(std::move(key));
    for (std::string& key : keys_of_restored_contents(facts_, stays)) keys.push_back(std::move(key));
    return keys;
  }

  void tell(const NodeSet& stays, const BypassedWriters& bypassed, const FunctionFreezing& functions,
            const Reduction& reduction) {
    std::vector<std::string> writers;
    for (const NodeId id : bypassed.dropped()) writers.emplace_back(graph_.name(id));
    writers.insert(writers.end(), functions.writers().begin(), functions.writers().end());
    warn_of_writers(writers, changes());
    late_reads_.insert(late_reads_.end(), functions.late_reads().begin(), functions.late_reads().end());
    warn_of_late_reads(late_reads_, changes());
    note_kept_along(graph_, variables_.kept_along(), changes());
    note_asset_paths(graph_, variables_.asset_paths(), stays, changes());
    warn_of_input_pipelines(facts_, stays, changes());
    warn_of_empty_tables(facts_, variables_.kept(), stays, changes());
    note_tables_that_nothing_fills(
        facts_, stays, wanted_.outputs, [&](NodeId state) { return reduction.keeps(state); }, changes());
  }

  const FreezeRequest& request_;
  Model& model_;
  Graph& graph_;
  WantedTensors wanted_;
  Facts facts_;
  std::vector<NodeId> fed_;  // by whoever calls the signature
  FrozenVariables variables_;
  std::optional<VariableValues> values_;
  std::vector<LateRead> late_reads_;
  FreezeChanges result_;
};

}  // namespace

FreezeChanges freeze(Model& model, Registry& ops, const FreezeRequest& request) {
  model.graph().decode();
  return Freezing(model, ops, request).run();
}

std::string values_of(const Model& model, const std::string& named) {
  const std::string found = checkpoint_of(model, named);
  if (!found.empty() || !model.path.ends_with(".meta")) return found;
  const std::string prefix = twin_prefix(model.path);
  return find_checkpoint(prefix) ? prefix : "";
}

}  // namespace gedit
