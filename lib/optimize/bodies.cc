#include "optimize/bodies.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "base/error.h"
#include "edit/functions/function_def.h"
#include "optimize/rounds.h"
#include "optimize/waited.h"

namespace gedit::optimizing {
namespace {

bool takes_lists(const Graph& body) {
  const OpDef signature = parse_op_def(function_signature(body));
  const auto is_list = [](const ArgDef& arg) {
    return !arg.number_attr.empty() || !arg.type_list_attr.empty();
  };
  return std::ranges::any_of(signature.inputs, is_list) || std::ranges::any_of(signature.outputs, is_list);
}

// Whether all ops are known, else no input of the body tells which output it reads.
bool knows_ops(const Graph& body, Labels& labels, const std::unordered_set<std::string_view>& functions) {
  return std::ranges::all_of(body.op_counts(), [&](const auto& op) {
    return functions.contains(op.first) || labels.op(op.first).known;
  });
}

class Body {
 public:
  Body(Library& library, std::string_view name, Graph& body, Registry& ops, Labels& labels,
       const Effects& effects, Contents& contents, const OptimizeRequest& request,
       const CapturedTensors& captured)
      : net_(body, ops, labels), subject_(net_, effects, contents), function_(body), captured_(captured) {
    subject_.library = &library;
    subject_.passes = request.passes;
    subject_.fold_larger = request.fold_larger;
    subject_.function = name;
    subject_.inlines = request.inlined;
  }

  // Whether it changed.
  bool run(Classes& classes, OptimizeResult& result) {
    const uint32_t nodes = net_.size();
    if (!protect()) return false;
    const Flow before(net_, subject_.effects, asked_of(subject_), subject_.untouched);
    if (std::ranges::any_of(subject_.returned, [&](In in) { return before.dead(in); })) return false;
    const bool changed = sweep_until_settled(subject_, classes);
    const Flow flow(net_, subject_.effects, asked_of(subject_), subject_.untouched);
    bool removed = false;
    for (Number n = 0; n < net_.size(); ++n) {
      if (!net_.there(n) || flow.needed(n)) continue;
      net_.remove(n);
      removed = true;
    }
    if (!changed && !removed) return false;
    count_reasons(subject_, nodes, result.counts, [&](Number n) { return !net_.there(n); });
    if (subject_.folded > 0) result.counts["fold"]["nodes"] += subject_.folded;
    result.larger = result.larger || subject_.larger;
    result.assumptions.insert(result.assumptions.end(), subject_.assumptions.begin(),
                              subject_.assumptions.end());
    result.inexact.insert(result.inexact.end(), subject_.inexact.begin(), subject_.inexact.end());
    store();
    return true;
  }

 private:
  // What is returned, waited for, captured for a gradient, or has an effect; false where it is not
  // understood.
  bool protect() {
    subject_.kept = subject_.kept_more = NodeSet(net_.size());
    bool known = true;
    function_.map_returns([&](std::string_view, std::string_view source) {
      const std::optional<In> in = net_.find(source);
      known = known && in && !in->control();
      if (known) subject_.returned.push_back(*in);
      return std::string(source);
    });
    function_.add_control_outputs([&](std::string_view node) {
      const Number n = net_.find_node(node);
      if (n == In::kArgument) {
        known = false;
      } else if (!is_dropped(subject_.passes.drops, net_.what(n))) {
        keep(n);
      }
      return std::vector<std::string>{};
    });
    if (const auto captured = captured_.find(subject_.function); captured != captured_.end()) {
      for (const std::string& tensor : captured->second) {
        const Input input = parse_input(tensor);
        const Number n = net_.find_node(input.node);
        if (n == In::kArgument) continue;
        keep(n);
        if (input.index() > 0) subject_.kept_more.add(NodeId{n});
      }
    }
    for (Number n = 0; n < net_.size(); ++n) {
      if (net_.there(n) && subject_.effects.of(net_, n)) keep(n);
    }
    return known;
  }

  void keep(Number n) {
    if (!subject_.kept.add(NodeId{n})) return;
    subject_.asked.push_back(n);
  }

  void store() {
    size_t next = 0;
    function_.map_returns(
        [&](std::string_view, std::string_view) { return net_.text(subject_.returned[next++]); });
    function_.remove_control_outputs([&](std::string_view node) {
      const Number n = net_.find_node(node);
      return n == In::kArgument || !net_.there(n);
    });
    net_.store();
    function_.store();
  }

  Net net_;
  Subject subject_;
  FunctionDef function_;
  const CapturedTensors& captured_;
};

// What one body says of itself.
void append(OptimizeResult& result, OptimizeResult gained) {
  for (const auto& [section, words] : gained.counts) {
    for (const auto& [word, count] : words) result.counts[section][word] += count;
  }
  result.larger = result.larger || gained.larger;
  std::ranges::move(gained.assumptions, std::back_inserter(result.assumptions));
  std::ranges::move(gained.inexact, std::back_inserter(result.inexact));
}

// Whether it changed the body, which is left as it was where an argument would not be used any more.
template <typename Run>
bool run_with_arguments(Graph& body, Run run, OptimizeResult& result) {
  const Graph before = body;
  const auto used = used_arguments(body);
  OptimizeResult gained;
  if (!run(gained)) return false;
  if (used_arguments(body) != used) {
    body = before;
    return false;
  }
  append(result, std::move(gained));
  return true;
}

}  // namespace

bool optimize_bodies(Library& library, Registry& ops, Labels& labels, Classes& classes,
                     const Effects& effects, Contents& contents, const OptimizeRequest& request,
                     const std::unordered_set<std::string>& waited, const CapturedTensors& captured,
                     OptimizeResult& result) {
  bool any = false;
  std::unordered_set<std::string_view> functions;
  for (const Function& function : library.functions) functions.insert(function.name);
  for (Function& function : library.functions) {
    if (takes_lists(function.body)) continue;
    function.body.decode();
    if (!knows_ops(function.body, labels, functions)) continue;
    try {
      const auto run = [&](OptimizeResult& gains) {
        return Body(library, function.name, function.body, ops, labels, effects, contents, request, captured)
            .run(classes, gains);
      };
      any = (waited.contains(std::string(function.name)) ? run_with_arguments(function.body, run, result)
                                                         : run(result)) ||
            any;
    } catch (const Error& error) {
      throw error.of(quoted("function", function.name));
    }
  }
  return any;
}

}  // namespace gedit::optimizing
