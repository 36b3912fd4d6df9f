#include "edit/retargeting/retarget.h"

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/parallel.h"
#include "edit/functions/inline.h"
#include "edit/functions/unfolded_size.h"
#include "edit/retargeting/around.h"
#include "edit/retargeting/graph_pass.h"
#include "edit/retargeting/replacements.h"
#include "graph/alike.h"
#include "graph/index.h"
#include "graph/library.h"
#include "model/release_fit.h"
#include "ops/kinds.h"
#include "shape/infer.h"
#include "shape/input_ranks.h"

namespace gedit {
namespace {

// Nodes that some release does not take. Beyond that a retarget is not tried out to tell what it would do.
constexpr uint64_t kMostTried = 50000;

ReleaseNumber retarget_release(std::string_view version) {
  const OpHistory& history = OpHistory::get();
  if (const auto release = history.find(version)) return *release;
  throw misused(version, "no TensorFlow release that is known")
      .hint("one of " + std::string(history.releases().front().short_name()) + " to " +
            std::string(history.releases().back().short_name()));
}

// Releases before 1.13 end where an attribute of a node in a function is not there, default or not.
bool fills_defaults_in_functions(ReleaseNumber release) { return release >= *OpHistory::get().find("1.13"); }

// Whether shape functions of the release may contradict what newer ones wrote; where nothing tells who wrote
// it, that is so if a node was changed.
bool is_older(ReleaseNumber release, Releases writers, bool changed_nodes) {
  if ((writers & release_bit(release)) != 0 || writers == 0) return changed_nodes;
  return (writers & (release_bit(release) - 1)) == 0;
}

// Calls that the release does not know give way to what they call, functional control flow to that of version
// 1; where `all`, every call does (docs/rules.md#retarget-functions).
void inline_for(MetaGraph& meta, Registry& ops, ReleaseNumber release, bool wrote_it, bool all,
                const std::set<std::string, std::less<>>& named, RetargetTally& tally) {
  OpHistory& history = OpHistory::get();
  // An op that is not stateful there may go where nobody reads what it gives, though its branches write.
  const auto lacks = [&](std::string_view op) {
    const std::vector<OpEra>& eras = history.eras(op);
    if (eras.empty()) return false;
    const OpEra* there = history.era(op, release);
    return there == nullptr || (!wrote_it && kinds_of(op).has_any(kFunctionalFlow) &&
                                eras.front().op.is_stateful && !there->op.is_stateful);
  };
  InlineRequest request;
  request.wanted = [&](std::string_view node_def) {
    const std::string_view op = node_op(node_def);
    return lacks(op) || (all && !kinds_of(op).has_any(kFunctionalFlow));
  };
  request.lower = true;
  request.insistent = lacks("PartitionedCall");
  request.named = &named;
  tally.inlined = inline_functions(meta, ops, request);
}

// Releases that do not know the graph's calls are only tried out where the calls unfold to few nodes.
ReleaseNumber oldest_to_try(const MetaGraph& meta, OpHistory& history, ReleaseNumber first) {
  const std::string_view library = meta.graph.part(graph_field::kLibrary);
  InlineRequest all;
  all.lower = true;
  if (library.empty() || UnfoldedSizes(library, *meta.graph.arena(), all).of(meta.graph) <= kMostTried)
    return 0;
  ReleaseNumber oldest = 0;
  const auto look = [&](std::string_view op) {
    if (!kinds_of(op).has_any(kUnfolding)) return;
    while (oldest < first && history.era(op, oldest) == nullptr) ++oldest;
  };
  for (const auto& [op, count] : meta.graph.op_counts()) look(op);
  each_body_node(library, *meta.graph.arena(),
                 [&](std::string_view, std::string_view node_def) { look(node_op(node_def)); });
  return oldest;
}

// One MetaGraph of a model, of which there may be thousands, to be tried out.
Model alone(const Model& model, size_t meta_graph) {
  Model one;
  one.path = model.path;
  one.kind = model.kind;
  one.arena = model.arena;
  one.meta_graphs.push_back(model.meta_graphs[meta_graph]);
  return one;
}

// Shapes of the graph as it is before nodes are replaced: only where some replacement asks for them.
class ShapesBefore {
 public:
  ShapesBefore(const Model& model, Registry& ops, ReleaseFit& fit, ReleaseNumber release) {
    if (!asks(model.meta(), fit, release)) return;
    before_.emplace(model);
    inference_.emplace(before_->meta().graph, ops);
  }

  ShapesOfGraph main() const {
    if (!inference_) return {};
    return {&inference_->main(), &before_->meta().graph, {}};
  }
  ShapesOfGraph function(std::string_view name) {
    if (!inference_) return {};
    ShapesOfGraph found{inference_->function(name), inference_->body(name)};
    if (found.graph == nullptr) return found;
    const std::vector<Shape> shapes = inference_->arguments(name);
    const OpDef signature = parse_op_def(function_signature(*found.graph));
    for (size_t i = 0; shapes.size() == signature.inputs.size() && i < shapes.size(); ++i)
      found.arguments.emplace(signature.inputs[i].name, shapes[i]);
    return found;
  }

 private:
  static bool asks(const MetaGraph& meta, ReleaseFit& fit, ReleaseNumber release) {
    bool any = false, ranked = false;
    const auto look = [&](std::string_view op) {
      for (const LimitRow* limit : limits_of(op, release, fit.reference())) any = any || limit->shapes;
      const ReplacementRow* row = replacement_of(op);
      if (row == nullptr || !row->shapes) return;
      const OpFit* known = fit.op(op);
      any = any || fit.history().era(op, release) == nullptr;
      ranked = ranked || (known != nullptr && known->ranks != nullptr);
    };
    const auto look_at_rank = [&](std::string_view node_def) {
      any = any || (ranked && fit.asks_rank(node_def, release));
    };
    for (const auto& [op, count] : meta.graph.op_counts()) look(op);
    if (ranked && !any) meta.graph.each_record(look_at_rank);
    each_body_node(meta.graph.part(graph_field::kLibrary), *meta.graph.arena(),
                   [&](std::string_view, std::string_view node_def) {
                     look(node_op(node_def));
                     look_at_rank(node_def);
                   });
    return any;
  }

  std::optional<Model> before_;
  std::optional<Inference> inference_;
};

// Nodes of which it is not known at once that all releases take them, but for those that are like one of them
// in all that counts.
struct Restricted {
  std::vector<NodeId> nodes;
  uint64_t like_these = 0;
};

Restricted not_taken_by_all(const Graph& graph, ReleaseFit& fit) {
  struct Looked {
    size_t data_inputs = 0;
    bool restricted = false;
  };
  FitOfOps fits(fit);
  const OpsOf<FitOfOps> fit_of(graph, fits);
  const Releases all = fit.history().all();
  const auto look = [&](PieceRange nodes) {
    Restricted found;
    AlikeAttrs<Looked> alike(graph);
    for (uint32_t i = nodes.begin; i < nodes.end; ++i) {
      const NodeId id{i};
      if (graph.removed(id)) continue;
      const OpFit* known = fit_of.of(id);
      if (known == nullptr || (known->plain == all && !known->any_type)) continue;
      const std::string_view node_def = graph.bytes(id);
      const NodeLike like = like_of(node_def);
      const Looked* looked = alike.find(id, like.attrs);
      if (looked != nullptr && looked->data_inputs == like.data_inputs) {
        found.like_these += looked->restricted ? 1 : 0;
        continue;
      }
      const bool restricted = fit.quick(known, node_def) != all;
      if (restricted) found.nodes.push_back(id);
      if (known->ranks == nullptr) alike.keep(id, like.attrs, {like.data_inputs, restricted});
    }
    return found;
  };
  Restricted found;
  for (const Restricted& piece : made_in_pieces(graph.size(), look)) {
    found.nodes.insert(found.nodes.end(), piece.nodes.begin(), piece.nodes.end());
    found.like_these += piece.like_these;
  }
  return found;
}

}  // namespace

RetargetResult retarget(Model& model, Registry& ops, const RetargetRequest& request) {
  const ReleaseNumber release = retarget_release(request.release);
  MetaGraph& meta = model.meta();
  meta.graph.decode();  // so that its parts are known, which are asked for again and again
  const Release& target = OpHistory::get().releases()[release];
  const Releases writers = writers_of(meta);
  const std::string_view versions = meta.graph.part(graph_field::kVersions);
  const auto producer = static_cast<int64_t>(last_varint(versions, 1));
  RetargetTally tally;
  if (const auto minimum = static_cast<int64_t>(last_varint(versions, 2)); minimum > target.producer) {
    tally.obstacles.push_back({"tf", "versions",
                               "min_consumer is " + std::to_string(minimum) + ", TensorFlow " +
                                   std::string(target.short_name()) + " is " +
                                   std::to_string(target.producer)});
  }
  const auto told_enough = [&] { return request.only_to_see && !tally.obstacles.empty(); };
  RetargetResult result;
  const auto end = [&] {
    result.obstacles = std::move(tally.obstacles);
    return std::move(result);
  };
  if (told_enough()) return end();
  const auto named = named_around(meta);
  const bool wrote_it = (writers & release_bit(release)) != 0;  // then it takes it as it is
  inline_for(meta, ops, release, wrote_it, request.inlined, named, tally);
  const std::string_view library_bytes = meta.graph.part(graph_field::kLibrary);
  ReleaseFit fit(writers, producer, library_bytes);
  GraphPass pass(fit, release, writers != 0, ops, tally);
  pass.want_changes = request.want_changes;
  pass.want_all_shaped = !request.only_to_see && is_older(release, writers, true);
  pass.until_obstacle = request.only_to_see;
  ShapesBefore shapes(model, ops, fit, release);
  // A nightly build calls itself by the release before it: what its importers drop they may drop.
  if (wrote_it) fit.set_stripped_ops(last_bytes(meta.part(meta_field::kInfo), 2));
  const std::shared_ptr<Repeats> repeats = pass.run(meta.graph, {}, &named, shapes.main());
  fit.clear_stripped_ops();
  if (told_enough()) return end();
  Library library = Library::decode(library_bytes, model.arena);
  std::vector<std::shared_ptr<Repeats>> repeats_in;  // by function
  for (Function& function : library.functions)
    repeats_in.push_back(pass.run(function.body, function.name, nullptr, shapes.function(function.name)));
  if (request.only_to_see) return end();
  const bool older = is_older(release, writers, tally.changed_nodes());
  const auto apply = [&](std::shared_ptr<Repeats> known, Graph& graph) {
    // Of ops that releases shape otherwise they go whatever the release, but that which wrote them.
    if (older || (!pass.want_all_shaped && !wrote_it)) tally.shapes += known->drop_output_shapes(graph);
    Repeats::apply(std::move(known), graph);
  };
  apply(repeats, meta.graph);
  for (size_t k = 0; k < library.functions.size(); ++k) apply(repeats_in[k], library.functions[k].body);
  bool bodies_edited = false;
  for (const Function& function : library.functions) bodies_edited = bodies_edited || function.body.edited();
  if (bodies_edited) meta.graph.set_part(graph_field::kLibrary, library.encode());
  if (!library.functions.empty() && !wrote_it && !fills_defaults_in_functions(release)) {
    Library made = Library::decode(meta.graph.part(graph_field::kLibrary), model.arena);
    for (Function& function : made.functions) {
      function.body.decode();
      pass.write_defaults(function.body);
    }
    if (tally.filled > 0) meta.graph.set_part(graph_field::kLibrary, made.encode());
  }
  if (!wrote_it || tally.changed_nodes()) set_release(meta, release);
  // An op that is not known is one that would have been inlined: why it was not is what stands in the way.
  std::map<std::string_view, std::string_view> kept(tally.inlined.kept.begin(), tally.inlined.kept.end());
  for (Fault& obstacle : tally.obstacles) {
    const auto found = kept.find(obstacle.subject);
    if (found != kept.end()) obstacle.message.append(", and ").append(found->second);
  }
  describe_tally(tally, target, result.changes.notes, result.changes.warnings);
  result.counts = tally.by_kind();
  result.changes.changed = std::move(tally.changed);
  return end();
}

RunsOn runs_on(const Model& model, size_t meta_graph, Registry& ops) {
  const MetaGraph& meta = model.meta_graphs[meta_graph];
  const std::string_view versions = meta.graph.part(graph_field::kVersions);
  const std::string_view library = meta.graph.part(graph_field::kLibrary);
  ReleaseFit fit(writers_of(meta), static_cast<int64_t>(last_varint(versions, 1)), library);
  InputRanks ranks(meta.graph, ops);
  std::string_view function_now;
  fit.set_ranks([&](std::string_view node_def) { return ranks.first(function_now, node_name(node_def)); });
  const OpHistory& history = fit.history();
  Releases left = history.all();
  std::vector<std::string> excluded_by(history.releases().size());
  uint64_t restricted = 0;
  const auto look = [&](std::string_view node_def) {
    const Releases quick = fit.quick(fit.op(node_op(node_def)), node_def);
    if (quick == history.all()) return;
    ++restricted;
    if ((quick & left) == left) return;
    const Releases lost = left & ~fit.of(node_def);
    for (ReleaseNumber i = 0; lost != 0 && i < excluded_by.size(); ++i) {
      if ((lost & release_bit(i)) != 0) excluded_by[i] = node_op(node_def);
    }
    left &= ~lost;
  };
  fit.set_stripped_ops(last_bytes(meta.part(meta_field::kInfo), 2));
  const Restricted found = not_taken_by_all(meta.graph, fit);
  restricted = found.like_these;
  for (const NodeId id : found.nodes) look(meta.graph.bytes(id));
  fit.clear_stripped_ops();
  each_body_node(library, *meta.graph.arena(), [&](std::string_view function, std::string_view node_def) {
    function_now = function;
    look(node_def);
  });
  const auto minimum = static_cast<int64_t>(last_varint(versions, 2));
  for (ReleaseNumber i = 0; i < excluded_by.size(); ++i) {
    if (minimum > history.releases()[i].producer) left &= ~release_bit(i);
  }

  RunsOn runs;
  ReleaseNumber first = history.latest();
  while (first > 0 && (left & release_bit(first)) == 0) --first;
  if ((left & release_bit(first)) != 0) {
    if (first != history.latest()) runs.to = history.releases()[first].short_name();
    while (first > 0 && (left & release_bit(first - 1)) != 0) --first;
    runs.from = history.releases()[first].short_name();
    if (first > 0) runs.because = excluded_by[first - 1];
  } else {
    first = history.latest() + 1;
  }
  if (restricted > kMostTried) return runs;
  // What a release takes, newer ones take: so the first is between.
  ReleaseNumber none = oldest_to_try(meta, OpHistory::get(), first);
  ReleaseNumber some = first;  // after a retarget that release takes it, or the graph as it is
  while (none < some) {
    const ReleaseNumber middle = none + (some - none) / 2;
    Model copy = alone(model, meta_graph);
    const RetargetRequest request{.release = std::string(history.releases()[middle].name),
                                  .only_to_see = true};
    if (retarget(copy, ops, request).obstacles.empty()) {
      some = middle;
    } else {
      none = middle + 1;
    }
  }
  if (some < first) runs.retargeted_from = history.releases()[some].short_name();
  return runs;
}

}  // namespace gedit
