#include "optimize/optimize.h"

#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "base/message_edit.h"
#include "base/size.h"
#include "edit/around/map.h"
#include "edit/edits.h"
#include "edit/functions/inline.h"
#include "edit/objects/signature_parts.h"
#include "model/summary.h"
#include "optimize/bodies.h"
#include "optimize/fix.h"
#include "optimize/norms.h"
#include "optimize/order.h"
#include "optimize/outside.h"
#include "optimize/reduce.h"
#include "optimize/rounds.h"
#include "optimize/shapes.h"
#include "optimize/transforming.h"
#include "optimize/unpack.h"
#include "optimize/waited.h"
#include "select/tensors.h"

namespace gedit::optimizing {
namespace {

class Optimizing {
 public:
  Optimizing(Model& model, Model& before, Registry& ops, const OptimizeRequest& request)
      : model_(model),
        before_(before),
        ops_(ops),
        request_(request),
        wanted_(wanted_by(model, request)),
        labels_(ops, classes_,
                [](std::string_view name) { return Labels::FunctionText{std::string(name)}; }) {}

  OptimizeResult run() {
    result_.outputs = wanted_.outputs;
    for (const std::string& tensor : request_.outputs) refuse_in_function(tensor);
    fixed_ = fixed_tensors();
    for (const NodeId id : nodes_to_keep(model_, ops_, request_))
      wanted_.kept.emplace_back(model_.graph().name(id));
    if (request_.reduce) {
      std::vector<std::string> ends = fixed_;
      for (const std::string& input : request_.inputs) {
        const std::string name = parse_typed_tensor(input).name;
        ends.push_back(signature_tensor(model_, name).value_or(name));
      }
      keep_fillers(model_, ops_, ends, wanted_);
    }
    Graph& graph = model_.graph();
    // Where both are the same as yet, what is found of the one holds for the other.
    if (!request_.apart) index_before();
    const bool reduced = reduce(model_);
    if (request_.apart) reduce(before_);
    if (reduced) leave_fed();
    if (reduced && !request_.apart) {
      before_ = model_;
      index_before();
    }
    before_.graph().decode();
    nodes_ = graph.size();
    for (Number n = 0; n < nodes_ && request_.want_changes; ++n) there_.push_back(!graph.removed(NodeId{n}));
    if (request_.passes.any()) drop_contexts(model_.meta());
    if (request_.inlined || request_.lowered) {
      known_.reset();
      if (inline_all(model_)) reduce(model_);  // objects name functions that are called
      inline_all(before_);
      result_.before.reset();
    }
    strip_places();
    settle(true);
    // A functional cond of which the branch is known by now is a call of that branch.
    for (int round = 0; round < kMostRounds && request_.inlined && inline_all(model_); ++round) {
      reduce(model_);
      settle(false);
    }
    if (request_.fold_norms && fold_norms()) settle(false);
    strip(model_, ops_, request_.strip, result_.counts);
    if (request_.strip.functions) reduce(model_);  // gradients call functions, too
    if (request_.want_changes) list_changes();
    if (request_.sort) sort_nodes(model_);
    return std::move(result_);
  }

 private:
  // What one round leaves may let the next one know more shapes.
  static constexpr int kMostRounds = 4;

  // Before anything else: where nodes run and stay together keeps those apart that compute the same.
  void strip_places() {
    const Strip places{.device = request_.strip.device, .classes = request_.strip.classes};
    if (!places.any()) return;
    strip(model_, ops_, places, result_.counts);
    known_.reset();
  }

  void settle(bool first) {
    for (int round = 0; round < kMostRounds; ++round) {
      const bool again = run_round(first && round == 0);
      if (!again) break;
    }
  }

  // Bodies and the main graph, swept until nothing changes. Whether it is worth another round.
  bool run_round(bool first) {
    Graph& graph = model_.graph();
    Library library = Library::decode(graph.part(graph_field::kLibrary), model_.arena);
    for (Function& function : library.functions) function.body.decode();
    const Effects effects(library, labels_, request_.passes.drops);
    const bool bodies =
        request_.passes.any() &&
        optimize_bodies(library, ops_, labels_, classes_, effects, contents_, request_,
                        called_behind_writes(graph, library, effects, labels_),
                        captured_tensors(model_.meta().part(meta_field::kObjectGraph)), result_);
    const std::shared_ptr<const GraphIndex> known = std::exchange(known_, nullptr);
    Net net(graph, ops_, labels_, known.get());
    const uint32_t nodes = net.size();
    NodeSet there = net.all();
    for (Number n = 0; n < nodes && !request_.stand_ins.empty(); ++n) {
      if (net.there(n) && request_.stand_ins.contains(net.name(n))) there.remove(NodeId{n});
    }
    Subject subject(net, effects, contents_);
    subject.passes = request_.passes;
    subject.inlines = request_.inlined;
    subject.library = &library;
    const bool all_needed = protect(model_, ops_, request_, wanted_, subject, known.get());
    if (first) fix_all(subject);
    const std::vector<Number> asked = asked_of(subject);
    Flow flow(net, effects, asked, all_needed && !net.changed() ? net.all() : net.needed_by(asked),
              subject.untouched);
    refuse_dead(subject, flow);
    const bool asks_shapes = learn_shapes(subject, model_.graph(), ops_);
    subject.fold_larger = request_.fold_larger;
    const bool ordered = flow.ordered();
    sweep_until_settled(subject, classes_, std::move(flow));
    // Other branches and values let more shapes be known.
    const bool more = subject.folded > 0 || subject.learns_more;
    const bool again = (net.changed() && asks_shapes && more) || bodies;
    if (!again && !ordered && request_.passes.algebra) unpack_splits(subject);
    const bool changed = net.changed();
    if (!request_.reduce) remove_idle(subject);
    // Of such a graph the net knows what goes, ahead of the records that are written of it.
    const bool bare = request_.reduce && request_.graph_alone && has_nodes_alone(model_);
    if (changed && bare) remove_unneeded(subject, wanted_.all());
    net.store();
    if (bodies) graph.set_part(graph_field::kLibrary, library.encode());
    if ((changed && !bare) || bodies) reduce(model_);
    count_reasons(subject, nodes, result_.counts,
                  [&](Number n) { return there.has(NodeId{n}) && graph.removed(NodeId{n}); });
    if (subject.folded > 0) result_.counts["fold"]["nodes"] += subject.folded;
    result_.larger = result_.larger || subject.larger;
    const auto append = [](auto& all, const auto& more) { all.insert(all.end(), more.begin(), more.end()); };
    append(result_.assumptions, subject.assumptions);
    append(result_.inexact, subject.inexact);
    return again;
  }

  // Calls give way to what they call; in `before`, too, so that both can be compared node by node. Whether
  // any did.
  bool inline_all(Model& model) {
    std::set<std::string, std::less<>> named;
    for (const std::string& text : wanted_.all()) named.insert(canonical_input(text));
    each_name_around(model.meta(),
                     [&](const SchemaField&, std::string_view name, int) { named.emplace(name); });
    InlineRequest request;
    request.lower = request_.lowered;
    request.wanted = [&](std::string_view node_def) {
      return kinds_of(node_op(node_def)).has_any(kFunctionalFlow) ? request_.lowered : request_.inlined;
    };
    request.named = &named;
    const bool told = &model == &model_;
    const uint64_t bytes = told ? graph_bytes(model.graph()) : 0;
    const InlineResult inlined = inline_functions(model.meta(), ops_, request);
    model.graph().decode();
    const bool any = inlined.calls + inlined.conds + inlined.loops > 0;
    if (!told) return any;
    result_.inlined_bytes += std::max(graph_bytes(model.graph()), bytes) - bytes;
    const auto tell = [&](const char* word, uint64_t number) {
      if (number > 0) result_.counts["inline"][word] += number;
    };
    tell("calls", inlined.calls);
    tell("conds", inlined.conds);
    tell("loops", inlined.loops);
    std::vector<std::string> kept;
    for (const auto& [node, why] : inlined.kept)
      kept.push_back("call '" + printable(node) + "' stays: " + why);
    add_new(result_.changes.notes, kept);
    return any;
  }

  bool fold_norms() {
    const uint64_t folded = fold_batch_norms(model_, ops_, request_, wanted_);
    if (folded == 0) {
      if (!request_.inlined && !model_.graph().part(graph_field::kLibrary).empty())
        result_.changes.notes.emplace_back("no batch norm is folded; those in functions are with --inline");
      return false;
    }
    result_.counts["fold-bn"]["batch norms"] += folded;
    result_.inexact.push_back(counted(folded, "batch norm") + " folded into weights");
    reduce(model_);
    return true;
  }

  void index_before() {
    before_.graph().decode();
    known_ = result_.before = std::make_shared<const GraphIndex>(before_.graph());
  }

  // Leaves what the wanted tensors need. Whether the model may be another one now.
  bool reduce(Model& model) {
    if (!request_.reduce) return false;
    const bool first = !reduced_[&model == &model_ ? 0 : 1];
    reduced_[&model == &model_ ? 0 : 1] = true;
    if (&model == &model_ && known_ != nullptr && request_.graph_alone && request_.inputs.empty() &&
        has_nodes_alone(model) && leave_needed(model, *known_, ops_, wanted_.all()))
      return model.graph().edited();
    ExtractRequest extracted;
    extracted.outputs = wanted_.fetched();
    extracted.kept = wanted_.kept;
    if (first) extracted.inputs = request_.inputs;
    if (&model == &model_) extracted.index = known_.get();
    extracted.graph_alone = request_.graph_alone;
    extracted.fill_tables = true;
    const Changes changes = extract(model, ops_, extracted);
    if (&model == &model_) {
      add_new(result_.changes.warnings, changes.warnings);
      add_new(result_.changes.notes, changes.notes);
    }
    return true;
  }

  // Nobody stands in for what only signatures fed that are gone by now.
  void leave_fed() {
    StandIns idle = request_.stand_ins;
    if (idle.empty()) return;
    std::unordered_set<std::string> fed;
    for (const Model* model : {&model_, &before_}) {
      if (model == &before_ && !request_.apart) continue;
      for (const SignatureSummary& signature : list_signatures(model->meta())) {
        for (const auto& [key, input] : signature.inputs) {
          for (const std::string& text : input.tensors()) fed.insert(canonical_input(text));
        }
      }
    }
    std::erase_if(idle, [&](const auto& stand_in) { return fed.contains(canonical_input(stand_in.second)); });
    if (idle.empty()) return;
    remove_stand_ins(model_.graph(), idle);
    if (request_.apart) remove_stand_ins(before_.graph(), idle);
    known_.reset();
  }

  static void add_new(std::vector<std::string>& all, const std::vector<std::string>& more) {
    std::unordered_set<std::string> known(all.begin(), all.end());
    for (const std::string& text : more) {
      if (known.insert(text).second) all.push_back(text);
    }
  }

  // What is to be fixed, as it is called in the graph; `auto` as it is. Throws where there is no such tensor.
  std::vector<std::string> fixed_tensors() {
    std::vector<std::string> tensors;
    if (request_.fixes.empty()) return tensors;
    const Names names(model_.graph());
    for (const std::string& text : request_.fixes) {
      const std::string tensor = text.substr(0, text.find('='));
      if (text != "auto") refuse_in_function(tensor);
      tensors.push_back(
          text == "auto" ? text : tensor_text(model_.graph(), find_tensor(model_, names, ops_, tensor)));
    }
    return tensors;
  }

  void refuse_in_function(const std::string& tensor) const {
    const std::string_view function = split_address(tensor).function;
    if (function.empty() || tensor_if_there(Names(model_.graph()), tensor)) return;
    const Library library = Library::decode(model_.graph().part(graph_field::kLibrary), model_.arena);
    if (std::ranges::find(library.functions, function, &Function::name) == library.functions.end()) return;
    throw refused("lies in " + quoted("function", function) + ", and has a value in each of its calls")
        .of(quoted("tensor", tensor))
        .hint("gedit extract --outputs " + printable(tensor) + " brings out what is inside a function");
  }

  void fix_all(Subject& subject) {
    std::vector<std::string> fixes;
    // The outputs may not need what is fixed.
    for (size_t i = 0; i < fixed_.size(); ++i) {
      if (fixed_[i] == "auto" || subject.net.find(fixed_[i])) {
        fixes.push_back(request_.fixes[i]);
      } else {
        result_.changes.notes.push_back("--fix: no output needs '" + printable(fixed_[i]) + "'");
      }
    }
    if (fixes.empty()) return;
    Fixed fixed = fix(model_, ops_, subject, classes_, fixes);
    result_.given = std::move(fixed.given);
    for (std::string& note : fixed.notes) result_.changes.notes.push_back(std::move(note));
    if (!fixed.tensors.empty()) result_.counts["fix"]["tensors"] = fixed.tensors.size();
    const std::unordered_set<std::string> names(fixed.tensors.begin(), fixed.tensors.end());
    forget_inputs(names);
    std::erase_if(wanted_.inputs,
                  [&](const std::string& text) { return names.contains(canonical_input(text)); });
  }

  // Whoever feeds a signature is to be told that a tensor is fed no more.
  void forget_inputs(const std::unordered_set<std::string>& fixed) {
    MetaGraph& meta = model_.meta();
    SignatureDefs signatures(meta);
    std::vector<std::string> changed;
    signatures.change([&](const std::string& key, std::string& def) {
      bool hit = false;
      def = with_each_entry(def, signature_field::kInput,
                            [&](std::string_view, std::string_view info) -> std::optional<std::string> {
                              const bool is_fixed = fixed.contains(canonical_input(last_bytes(info, 1)));
                              hit = hit || is_fixed;
                              return is_fixed ? std::nullopt : std::optional(std::string(info));
                            });
      if (hit) changed.push_back(key);
      return key;
    });
    if (changed.empty()) return;
    if (meta.has(meta_field::kObjectGraph))
      throw refused("takes a tensor that is fixed, and so does its function")
          .of(quoted("signature", changed[0]))
          .hint("gedit freeze");
    signatures.store();
    for (const std::string& key : changed)
      result_.changes.notes.push_back("signature '" + printable(key) + "' takes no more what is fixed");
  }

  // A tensor that never comes is a fault of what was fixed.
  void refuse_dead(const Subject& subject, const Flow& flow) const {
    for (const std::string& text : wanted_.outputs) {
      const std::optional<In> in = subject.net.find(text);
      if (in && flow.dead(*in))
        throw refused("lies in a branch that is not taken").of(quoted("tensor", text));
    }
  }

  // Of a graph that is not reduced: what went out of use by what was done.
  static void remove_idle(Subject& subject) {
    Net& net = subject.net;
    std::vector<uint32_t> readers(net.size());
    std::vector<Number> open;
    for (Number n = 0; n < net.size(); ++n) {
      if (!net.there(n)) continue;
      for (const In& in : net.inputs(n)) {
        if (!in.argument()) ++readers[in.node];
      }
    }
    const auto idle = [&](Number n) {
      return net.there(n) && readers[n] == 0 && !subject.is_kept(n) && subject.reason_of(n);
    };
    for (Number n = 0; n < net.size(); ++n) {
      if (idle(n)) open.push_back(n);
    }
    while (!open.empty()) {
      const Number n = open.back();
      open.pop_back();
      if (!net.there(n)) continue;
      for (const In& in : net.inputs(n)) {
        if (in.argument()) continue;
        --readers[in.node];
        if (idle(in.node)) open.push_back(in.node);
      }
      net.remove(n);
    }
  }

  bool is_stand_in(std::string_view name) const {
    return !request_.stand_ins.empty() && request_.stand_ins.contains(name);
  }

  void list_changes() {
    const Graph &graph = model_.graph(), &before = before_.graph();
    Changes& changes = result_.changes;
    for (uint32_t i = 0; i < graph.size(); ++i) {
      const NodeId id{i};
      if (i < nodes_ && there_[i] && is_stand_in(before.name(id))) continue;
      if (i >= nodes_) {
        if (!graph.removed(id)) changes.added.emplace_back(graph.name(id), graph.op(id));
      } else if (there_[i] && graph.removed(id)) {
        changes.removed.emplace_back(before.name(id), before.op(id));
      } else if (there_[i] && graph.bytes(id) != before.bytes(id)) {
        changes.changed.emplace_back(graph.name(id), graph.op(id));
      }
    }
  }

  Model &model_, &before_;
  Registry& ops_;
  const OptimizeRequest& request_;
  Wanted wanted_;
  std::vector<std::string> fixed_;  // what is to be fixed, as it is called in the graph
  Classes classes_;
  Contents contents_;
  Labels labels_;
  OptimizeResult result_;
  bool reduced_[2] = {false, false};
  uint32_t nodes_ = 0;
  std::vector<bool> there_;                  // by node, before anything was done; where changes are listed
  std::shared_ptr<const GraphIndex> known_;  // while model_ is as before_: of that
};

OptimizeResult run_all(Model& model, Model& before, Registry& ops, const OptimizeRequest& request) {
  model.graph().decode();
  if (!request.transforms.empty()) return run_transforms(model, before, ops, request);
  return Optimizing(model, before, ops, request).run();
}

}  // namespace
}  // namespace gedit::optimizing

uint64_t gedit::graph_bytes(const Graph& graph) {
  uint64_t bytes = graph.part(graph_field::kLibrary).size();
  graph.each_record(
      [&](std::string_view node_def) { bytes += 1 + varint_size(node_def.size()) + node_def.size(); });
  return bytes;
}

gedit::OptimizeResult gedit::optimize(Model& model, Model& before, Registry& ops,
                                      const OptimizeRequest& request) {
  return optimizing::run_all(model, before, ops, request);
}
