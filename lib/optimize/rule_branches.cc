// Branches and loops of which it is known what they do: Switch and Merge, loops, If and Case, Select.
#include <algorithm>

#include "graph/frames.h"
#include "graph/name_attr_list.h"
#include "graph/tensor_layout.h"
#include "optimize/constant.h"
#include "optimize/entry.h"
#include "optimize/rules.h"

namespace gedit::optimizing {
namespace {

Decision of_switch(const View& view, Number n) {
  const std::span<const In> data = view.net.data(n);
  if (data.size() != 2 || view.net.what(n) == What::kSwitchN) return {};
  const std::optional<bool> known = view.flow.truth(data[1]);
  if (!known) return {};
  Decision decision;
  decision.outputs.emplace_back(*known ? 1 : 0, data[0]);
  decision.reason = {"branch", "Switch"};
  return decision;
}

Decision of_merge(const View& view, Number n) {
  std::optional<In> live;
  int32_t position = 0, at = 0;
  for (const In& in : view.net.data(n)) {
    if (view.flow.dead(in)) {
      // What runs for it all the same would run no more. Where order counts, a loop stays whole.
      if (view.flow.effect_for_dead(in.node) || (is_back_edge(view.net, n, in) && view.flow.ordered()))
        return {};
    } else {
      if (live || is_back_edge(view.net, n, in)) return {};
      live = in;
      at = position;
    }
    ++position;
  }
  if (!live) return {};
  Decision decision = replaced_by(*live, "branch", "Merge");
  if (!view.flow.reads_second(n) && !view.subject.keeps_more(n)) return decision;
  // Which one came is known as well. A Const runs at once, so it takes its place where all around does.
  if (view.whens.of(n) != kAlways || view.whens.frame(n) != 0) return {};
  const std::string device(node_device(view.net.def(n)));
  const Number which = view.net.append(
      std::string(view.net.name(n)) + "/value_index", "Const",
      {{"dtype", type_value(DType::kInt32)}, {"value", tensor_value(scalar_proto(DType::kInt32, at))}},
      device, {});
  decision.outputs.emplace_back(1, In{which, 0});
  return decision;
}

// What leaves a loop as it entered it.
Decision of_exit(const View& view, Number n) {
  const std::span<const In> data = view.net.data(n);
  if (data.size() != 1 || data[0].argument() || !view.net.is(data[0].node, OpKind::kEnter)) return {};
  const Number enter = data[0].node;
  if (is_constant_enter(view.net.def(enter)) || view.net.op(enter).gives_references ||
      view.flow.effect(enter) || view.flow.ordered() || !view.net.controls(enter).empty() ||
      view.net.data(enter).size() != 1)
    return {};
  // What of the loop it waits for is there when the Enter is.
  for (const In& in : view.net.controls(n)) {
    if (view.flow.effect(in.node) || view.whens.frame(in.node) != view.whens.frame(enter)) return {};
  }
  return replaced_by(view.net.data(enter)[0], "branch", "Exit");
}

// Of a loop that is never gone around it asks what is false.
Decision of_loop_condition(const View& view, Number n) {
  if (view.flow.ordered() || view.flow.truth({n, 0}) || !ends_at_once(view, n)) return {};
  const Number asked = view.net.data(n)[0].node;
  const Number no = view.net.append(
      std::string(view.net.name(n)) + "/at_entry", "Const",
      {{"dtype", type_value(DType::kBool)}, {"value", tensor_value(scalar_proto(DType::kBool, 0))}},
      view.net.device(n), {control_of(asked)});
  Decision decision;
  decision.becomes = view.net.def(n);
  decision.inputs = {{no, 0}};
  for (const In& in : view.net.controls(n)) decision.inputs.push_back(in);
  return decision;
}

// One that is never gone around gives what it begins with.
Decision of_while(const View& view, Number n) {
  const std::span<const In> data = view.net.data(n);
  if (data.empty() || view.flow.ordered() || view.flow.effect(n) || !ends_at_once(view, n)) return {};
  Decision decision;
  uint32_t output = 0;
  for (const In& in : data) {
    if (view.is_memory(in)) return {};  // of which it has a copy
    decision.outputs.emplace_back(output++, in);
  }
  decision.reason = {"branch", "While"};
  return decision;
}

// Scopes in which nodes are, and these nodes, as far as they are needed.
const std::unordered_set<std::string_view>& scopes_of(const View& view) {
  auto& scopes = view.subject.scopes;
  if (scopes) return *scopes;
  scopes.emplace();
  for (Number n = 0; n < view.net.size(); ++n) {
    if (!view.net.there(n) || !view.flow.needed(n)) continue;
    std::string_view name = view.net.name(n);
    while (scopes->insert(name).second) {
      const size_t end = name.rfind('/');
      if (end == std::string_view::npos) break;
      name = name.substr(0, end);
    }
  }
  return *scopes;
}

// Whether nodes of the function, in the node's place, would get names that others have. In a call's place
// Grappler puts the function's nodes into its scope, and ends the process where one of the name is there.
bool meets_others(const View& view, Number n, std::string_view function) {
  if (view.subject.inlines) return false;
  const auto& scopes = scopes_of(view);
  const Function* called = view.subject.library == nullptr ? nullptr : view.subject.library->find(function);
  if (called == nullptr) return true;
  bool meets = false;
  const std::string scope = std::string(view.net.name(n)) + "/";
  called->body.each_record([&](std::string_view node_def) {
    meets = meets || scopes.contains(scope + std::string(node_name(node_def)));
  });
  return meets;
}

// A call of the branch that is taken.
Decision of_choice(const View& view, Number n) {
  const std::span<const In> data = view.net.data(n);
  if (data.empty() || data[0].argument() || data[0].index != 0) return {};
  const std::string_view def = view.net.def(n);
  const bool two = view.net.is(n, OpKind::kIf);
  std::optional<std::string> function;  // an AttrValue
  if (two) {
    std::optional<bool> known = view.flow.truth(data[0]);
    if (!known && view.net.is(data[0].node, OpKind::kConst)) {
      if (const auto number = scalar_of(view.net.def(data[0].node))) known = *number != 0;
    }
    if (!known) return {};
    if (const auto branch = find_attr(def, *known ? "then_branch" : "else_branch")) function = *branch;
  } else {
    if (!view.net.is(data[0].node, OpKind::kConst)) return {};
    const std::optional<int64_t> number = scalar_of(view.net.def(data[0].node));
    const auto branches = find_attr(def, "branches");
    if (!number || !branches) return {};
    std::vector<std::string_view> all;
    each_name_attr_list(*branches, [&](std::string_view list) { all.push_back(list); });
    if (all.empty()) return {};
    const auto count = static_cast<int64_t>(all.size());
    const int64_t taken = *number < 0 || *number >= count ? count - 1 : *number;
    function = bytes_field(attr_field::kFunc, std::string(all[static_cast<size_t>(taken)]));
  }
  const auto takes = find_attr(def, "Tin"), gives = find_attr(def, "Tout");
  if (!function || !takes || !gives || meets_others(view, n, function_in(*function))) return {};
  const What what = view.net.what(n);
  const bool stateless = what == What::kStatelessIf || what == What::kStatelessCase;
  NodeBuilder call(view.net.name(n), stateless ? "PartitionedCall" : "StatefulPartitionedCall");
  call.device(node_device(def)).attr("Tin", *takes).attr("Tout", *gives).attr("f", *function);
  // In older releases these have no defaults.
  for (const char* key : {"config", "config_proto", "executor_type"}) call.attr(key, string_value(""));
  Decision decision;
  decision.becomes = call.take();
  decision.inputs.assign(data.begin() + 1, data.end());
  for (const In& in : view.net.controls(n)) decision.inputs.push_back(in);
  const Number predicate = data[0].node;
  if (view.flow.ordered() || view.flow.effect(predicate) || view.whens.of(predicate) != kAlways ||
      view.whens.frame(predicate) != 0)
    decision.inputs.push_back(control_of(predicate));
  decision.reason = {"branch", two ? "If" : "Case"};
  return decision;
}

// Of scalar predicate, which asks both to have one shape.
Decision of_select(const View& view, Number n) {
  const std::span<const In> data = view.net.data(n);
  if (data.size() != 3) return {};
  const std::optional<bool> known = view.flow.truth(data[0]);
  if (!known) return {};
  return replaced_by(data[*known ? 1 : 2], "branch", "Select", true);
}

}  // namespace

Decision replaced_by(In in, const char* section, std::string_view word, bool assumed) {
  Decision decision;
  decision.outputs.emplace_back(0, in);
  decision.reason = {section, word};
  decision.assumed = assumed;
  return decision;
}

Decision decide_branch(const View& view, Number n) {
  const ProofOp& op = view.net.op(n);
  if (op.kinds.has(OpKind::kSwitch)) return of_switch(view, n);
  if (op.kinds.has(OpKind::kMerge)) return of_merge(view, n);
  if (op.kinds.has(OpKind::kExit)) return of_exit(view, n);
  if (op.kinds.has(OpKind::kLoopCond)) return of_loop_condition(view, n);
  if (op.kinds.has(OpKind::kWhile)) return of_while(view, n);
  if (op.kinds.has_any(OpKind::kIf | OpKind::kCase)) return of_choice(view, n);
  if (view.net.what(n) == What::kSelect) return of_select(view, n);
  return {};
}

}  // namespace gedit::optimizing
