#include "optimize/transforming.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "edit/around/map.h"
#include "graph/names.h"
#include "optimize/outside.h"

namespace gedit::optimizing {
namespace {

// What --transforms asks for, one after the other; a pass that `request` lacks is left out.
class Transforming {
 public:
  Transforming(Model& model, Model& before, Registry& ops, const OptimizeRequest& request)
      : model_(model), before_(before), ops_(ops), request_(request) {}

  OptimizeResult run() {
    const Wanted wanted = wanted_by(model_, request_);
    result_.outputs = wanted.outputs;
    for (const NodeId id : nodes_to_keep(model_, ops_, request_)) kept_.emplace_back(model_.graph().name(id));
    for (const Transform& transform : request_.transforms) {
      last_ = &transform == &request_.transforms.back();
      one(transform);
    }
    return std::move(result_);
  }

 private:
  void one(const Transform& transform) {
    model_.graph().decode();
    NodeTransformed done;
    if (transform_nodes(model_, transform, kept(), done)) {
      if (done.nodes > 0) result_.counts["rewrite"][transform.name] += done.nodes;
      if (!done.why.empty()) result_.inexact.push_back(done.why);
      return;
    }
    OptimizeRequest step = bare();
    const std::string& name = transform.name;
    if (name == "strip_unused_nodes") {
      step.reduce = true;
    } else if (name == "remove_nodes") {
      remove_nodes(transform);
      return;
    } else if (name == "fold_constants") {
      step.passes.fold = request_.passes.fold;
    } else if (name == "merge_duplicate_nodes") {
      step.passes.share = request_.passes.share;
    } else if (name == "sort_by_execution_order") {
      step.sort = true;
    } else {
      step.fold_norms = true;
      step.reduce = true;
    }
    run_step(step);
  }

  // Without any pass; inputs are cut once.
  OptimizeRequest bare() const {
    OptimizeRequest step = request_;
    step.passes = {};
    step.transforms.clear();
    step.fixes.clear();
    step.reduce = step.sort = step.fold_norms = step.inlined = step.lowered = false;
    if (cut_) step.inputs.clear();
    return step;
  }

  // Those of one input, or of as many as max_inputs allows, that are no outputs.
  void remove_nodes(const Transform& transform) {
    const size_t most =
        static_cast<size_t>(std::max(1, std::atoi(transform.value("max_inputs", "1").c_str())));
    const std::vector<std::string> names = transform.all("op");
    if (names.empty()) throw Error(Cause::kUsage, "remove_nodes takes op").of("option '--transforms'");
    OptimizeRequest step = bare();
    const Graph& graph = model_.graph();
    for (uint32_t i = 0; i < graph.size(); ++i) {
      if (graph.removed(NodeId{i})) continue;
      const std::string_view node_def = graph.bytes(NodeId{i});
      if (std::ranges::find(names, node_op(node_def)) == names.end()) continue;
      size_t data = 0;
      each_input(node_def, [&](std::string_view input) { data += input.starts_with('^') ? 0 : 1; });
      if (data > 0 && data <= most) step.bypass_nodes.emplace_back(graph.name(NodeId{i}));
    }
    if (!step.bypass_nodes.empty()) run_step(step);
  }

  void run_step(const OptimizeRequest& step) {
    cut_ = cut_ || step.reduce;
    if (!step.apart) before_ = model_;
    OptimizeResult done = optimize(model_, before_, ops_, step);
    // The last step is compared with what it was made of by whoever asked; and so are those before, since
    // what is equal to what is equal to the input is equal to it.
    if (!last_ && request_.step_made && done.inexact.empty()) request_.step_made(before_, model_, done);
    result_.assumptions = std::move(done.assumptions);
    result_.larger = result_.larger || done.larger;
    const auto append = [](auto& all, auto& more) { all.insert(all.end(), more.begin(), more.end()); };
    append(result_.inexact, done.inexact);
    append(result_.changes.notes, done.changes.notes);
    append(result_.changes.warnings, done.changes.warnings);
    append(result_.changes.removed, done.changes.removed);
    append(result_.changes.changed, done.changes.changed);
    append(result_.changes.added, done.changes.added);
    for (const auto& [section, words] : done.counts) {
      for (const auto& [word, number] : words) result_.counts[section][word] += number;
    }
  }

  // By node: what is asked for, and what else has its name for somebody outside.
  std::vector<bool> kept() {
    const Graph& graph = model_.graph();
    std::vector<bool> kept(graph.size());
    const Names names(graph);
    const auto keep = [&](std::string_view text) {
      const NodeId id = names.find(parse_input(text).node);
      if (id != kNoNode) kept[index_of(id)] = true;
    };
    for (const std::string& text : wanted_by(model_, request_).all()) keep(text);
    for (const std::string& text : split_inputs()) keep(text);
    for (const std::string& name : kept_) keep(name);
    each_name_around(model_.meta(), [&](const SchemaField&, std::string_view name, int) { keep(name); });
    for (uint32_t i = 0; i < graph.size(); ++i) {
      const NodeId id{i};
      kept[i] = kept[i] || (!graph.removed(id) &&
                            graph.is(id, OpKind::kPlaceholder | OpKind::kVariable | OpKind::kTable));
    }
    return kept;
  }
  std::vector<std::string> split_inputs() const {
    std::vector<std::string> names;
    for (const std::string& input : request_.inputs) names.push_back(input.substr(0, input.find(':')));
    return names;
  }

  Model &model_, &before_;
  Registry& ops_;
  const OptimizeRequest& request_;
  OptimizeResult result_;
  std::vector<std::string> kept_;  // by --keep
  bool cut_ = false;
  bool last_ = false;  // of the transforms
};

}  // namespace

OptimizeResult run_transforms(Model& model, Model& before, Registry& ops, const OptimizeRequest& request) {
  return Transforming(model, before, ops, request).run();
}

}  // namespace gedit::optimizing
