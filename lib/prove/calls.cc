// Functions, seen through: calls by what the body gives, If and Case by what their branches give, While by
// its functions as values.
#include <algorithm>
#include <unordered_set>

#include "graph/function_names.h"
#include "graph/name_attr_list.h"
#include "graph/references.h"
#include "prove/numbering.h"

namespace gedit {
namespace {

constexpr int kDeepestCall = 64;

std::vector<std::string_view> functions_named(std::string_view node_def, std::string_view key) {
  std::vector<std::string_view> names;
  if (const auto value = find_attr(node_def, key))
    each_function(*value, [&](std::string_view name) { names.push_back(name); });
  return names;
}

bool is_effect(Conduct conduct) {
  return conduct == Conduct::kWrites || conduct == Conduct::kUnknown || conduct == Conduct::kInPlace;
}

// Whether the function, or one that it calls, does something besides giving its results.
bool has_effects(Side& side, std::string_view function) {
  CalledBody* const asked = side.body(function);
  if (asked == nullptr) return false;
  std::vector<CalledBody*> open{asked};
  std::unordered_set<const CalledBody*> seen{asked};
  while (!open.empty()) {
    CalledBody& body = *open.back();
    open.pop_back();
    if (body.effects.has_value()) {
      if (*body.effects) return *(asked->effects = true);
      continue;
    }
    for (uint32_t i = 0; i < body.graph.size(); ++i) {
      const std::string_view node_def = body.graph.bytes(NodeId{i});
      const std::string_view op = node_op(node_def);
      const Conduct conduct = side.labels().op(op).conduct;
      if (side.body(op) == nullptr && is_effect(conduct)) return *(asked->effects = true);
      each_function_named(node_def, [&](std::string_view name) {
        CalledBody* const called = side.body(name);
        if (called != nullptr && seen.insert(called).second) open.push_back(called);
      });
    }
  }
  return *(asked->effects = false);
}

std::string arguments_key(std::string_view function, const std::vector<ProofTensor>& arguments) {
  std::string key(function);
  key += '\0';
  for (const ProofTensor& argument : arguments) {
    append_varint(key, argument.what);
    append_varint(key, argument.when);
  }
  return key;
}

std::vector<ProofTensor> unknown_results(ProofState& state, size_t count, std::string_view why) {
  const ClassId call = state.unknown("a call", why);
  std::vector<ProofTensor> results;
  for (uint32_t i = 0; i < count; ++i)
    results.push_back({state.classes.intern(KeyForm::kOutput, {call, i}), kAlways});
  return results;
}

}  // namespace

ClassId always_there(ProofState& state, const ProofTensor& value) {
  if (value.when == kAlways) return value.what;
  return state.unknown("a result", "is dead for some inputs of its function");
}

std::vector<ProofTensor> results_of(Side& side, ProofState& state, std::string_view function,
                                    const std::vector<ProofTensor>& arguments, CallPlace place) {
  CalledBody* body = side.body(function);
  if (body == nullptr) return unknown_results(state, 1, "calls a function that is not there");
  const size_t count = body->results.size();
  if (place.depth >= kDeepestCall) return unknown_results(state, count, "calls nest too deep");
  if (!body->odd.empty()) return unknown_results(state, count, body->odd);
  if (arguments.size() != body->arguments.size())
    return unknown_results(state, count, "calls a function with another number of arguments");
  if (has_effects(side, function)) return unknown_results(state, count, "calls a function that has effects");
  const std::string key = arguments_key(function, arguments);
  auto& calls = place.path == CallPlace::kAnywhere ? side.calls : side.calls_of_round;
  if (const auto found = calls.find(key); found != calls.end()) return found->second;
  constexpr int64_t kCall = 64;  // what a call costs besides its nodes
  state.calls_left -= body->graph.size() + kCall;
  if (state.calls_left < 0) return unknown_results(state, count, "calls too much");
  ++place.depth;
  Numbering numbering(side, state, *body, arguments, place);
  std::vector<ProofTensor> results;
  for (const std::string_view input : body->results) numbering.value_of(input);
  numbering.settle_assumptions();
  for (const std::string_view input : body->results) results.push_back(numbering.value_of(input));
  calls.emplace(key, results);
  return results;
}

namespace {

// What the function gives for these arguments, of which `places` are only known by their place; but for the
// results of `but`.
ClassId lambda_for(Side& side, ProofState& state, std::string_view function,
                   const std::vector<ProofTensor>& arguments, uint32_t places, const std::vector<bool>& but,
                   int depth) {
  std::vector<uint32_t> key{places};
  bool unknown = false;
  const std::vector<ProofTensor> results = results_of(side, state, function, arguments, {depth});
  for (size_t k = 0; k < results.size(); ++k) {
    if (k < but.size() && but[k]) continue;
    key.push_back(results[k].what);
    key.push_back(results[k].when);
    unknown = unknown || state.conditions.unknown(results[k].when);
  }
  const ClassId id = state.classes.intern(KeyForm::kLambda, key);
  if (unknown) state.classes.set_unknown(id);
  return id;
}

}  // namespace

ClassId lambda_of(Side& side, ProofState& state, std::string_view function, int depth) {
  CalledBody* body = side.body(function);
  if (body == nullptr) return state.unknown("a function", "is not there");
  if (body->lambda.has_value()) return *body->lambda;
  if (side.open_lambdas >= kDeepestCall) return state.unknown("a function", "is nested too deep");
  if (body->open) return state.unknown("a function", "names itself");
  body->open = true;
  ++side.open_lambdas;
  std::vector<ProofTensor> arguments;
  const auto places = static_cast<uint32_t>(body->arguments.size());
  for (uint32_t i = 0; i < places; ++i)
    arguments.push_back({state.classes.intern(KeyForm::kArgument, {i}), kAlways});
  const ClassId id = lambda_for(side, state, function, arguments, places, {}, depth);
  body->lambda = id;
  body->open = false;
  --side.open_lambdas;
  return id;
}

// Of the op itself, or of a function that the node names.
bool Numbering::has_effect(const Node& node) {
  const ProofOp& op = node.op();
  const bool function = side_.body(op.name) != nullptr;
  if (!function && is_effect(op.conduct)) return true;
  if (!side_.has_functions()) return false;
  bool found = function && has_effects(side_, op.name);
  each_attr(graph_.bytes(node.id), [&](std::string_view, std::string_view value) {
    if (!may_name_function(value) || found) return;
    each_function(value, [&](std::string_view name) { found = found || has_effects(side_, name); });
  });
  return found;
}

// A call that does not say of what.
void Numbering::number_odd(const Node& node) {
  set(node.id, {state_.unknown("a call", "does not name its functions"), node.when});
}

void Numbering::number_call(Node& node) {
  const std::string_view node_def = graph_.bytes(node.id);
  std::string_view function = node.op().name;
  if (side_.body(function) == nullptr) {
    const std::vector<std::string_view> named = functions_named(node_def, "f");
    if (named.size() != 1) return number_odd(node);
    function = named[0];
  }
  std::vector<ProofTensor> arguments;
  for (const ClassId input : node.inputs) arguments.push_back({after(node, input), kAlways});
  std::vector<ProofTensor> results =
      results_of(side_, state_, function, arguments, place_of_call(node.id, 0));
  for (ProofTensor& result : results) {
    result.what = after(node, result.what);
    result.when = state_.conditions.both(node.when, result.when);
  }
  put_behind(results, node.inputs);
  set_outputs(node.id, std::move(results), node.when);
}

void Numbering::number_choice(Node& node) {
  const std::string_view node_def = graph_.bytes(node.id);
  const bool two = node.op().kinds.has(OpKind::kIf);
  std::vector<std::string_view> branches;
  for (const char* key : {"else_branch", "then_branch", "branches"}) {
    if (two != (std::string_view(key) == "branches")) {
      for (const std::string_view name : functions_named(node_def, key)) branches.push_back(name);
    }
  }
  if (node.inputs.empty() || branches.empty() || (two && branches.size() != 2)) return number_odd(node);
  const ClassId predicate = after(node, node.inputs[0]);
  std::vector<ProofTensor> arguments;
  for (size_t i = 1; i < node.inputs.size(); ++i) arguments.push_back({after(node, node.inputs[i]), kAlways});
  std::vector<std::vector<ProofTensor>> results;
  size_t count = SIZE_MAX;
  for (const std::string_view branch : branches) {
    const CallPlace place = place_of_call(node.id, static_cast<uint32_t>(results.size()));
    results.push_back(results_of(side_, state_, branch, arguments, place));
    count = std::min(count, results.back().size());
  }
  const bool is_bool = two && type_attr(node_def, "Tcond").value_or(DType::kInvalid) == DType::kBool;
  const ClassId asked = without_wait(node.inputs[0]);  // put_behind() has it wait, as it is an input
  const std::optional<bool> known = two ? state_.chooses_then(asked) : std::nullopt;
  std::optional<uint32_t> branch_taken = two ? std::nullopt : state_.branch_of(asked, results.size());
  if (known) branch_taken = *known ? 1 : 0;
  if (branch_taken) ++state_.switches;
  Classes& classes = state_.classes;
  std::vector<ProofTensor> outputs;
  for (size_t k = 0; k < count; ++k) {
    if (branch_taken) {
      const ProofTensor& taken = results[*branch_taken][k];
      outputs.push_back({after(node, taken.what), state_.conditions.both(node.when, taken.when)});
      continue;
    }
    std::vector<uint32_t> key{predicate};
    for (const std::vector<ProofTensor>& branch : results) key.push_back(always_there(state_, branch[k]));
    const LabelId label = two && !is_bool ? classes.label(KeyForm::kNode, "If") : branch_label(is_bool);
    outputs.push_back({classes.intern(label, key), node.when});
  }
  put_behind(outputs, node.inputs);
  set_outputs(node.id, std::move(outputs), node.when);
}

// Whether the function, which a While asks first of all, says no.
bool Numbering::is_never_entered(const Node& node, std::string_view condition) {
  if (state_.ordered) return false;
  std::vector<ProofTensor> arguments;
  for (const ClassId input : node.inputs) arguments.push_back({input, kAlways});
  const std::vector<ProofTensor> asked = results_of(side_, state_, condition, arguments, {place_.depth});
  return asked.size() == 1 && asked[0].when == kAlways && state_.truth(asked[0].what) == false;
}

void Numbering::number_while(Node& node) {
  const std::string_view node_def = graph_.bytes(node.id);
  const auto conditions = functions_named(node_def, "cond"), bodies = functions_named(node_def, "body");
  if (conditions.size() != 1 || bodies.size() != 1) return number_odd(node);
  if (is_never_entered(node, conditions[0])) {
    ++state_.switches;
    std::vector<ProofTensor> outputs;
    for (const ClassId input : node.inputs) outputs.push_back({input, node.when});
    return set_outputs(node.id, std::move(outputs), node.when);
  }
  if (place_.path != CallPlace::kAnywhere) return number_while_as_loop(node, conditions[0], bodies[0]);
  // Where the body is a function of more or fewer, its lambda is unknown.
  const std::vector<bool> stays = staying(node, lambda_of(side_, state_, bodies[0], place_.depth));
  uint32_t places = 0;
  std::vector<ProofTensor> arguments;
  std::vector<uint32_t> begins;
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    if (stays[k]) {
      arguments.push_back({node.inputs[k], kAlways});
    } else {
      arguments.push_back({state_.classes.intern(KeyForm::kArgument, {places++}), kAlways});
      begins.push_back(after(node, node.inputs[k]));
    }
  }
  std::vector<uint32_t> key;
  if (places == node.inputs.size()) {
    for (const std::string_view function : {conditions[0], bodies[0]})
      key.push_back(lambda_of(side_, state_, function, place_.depth));
  } else {
    key.push_back(lambda_for(side_, state_, conditions[0], arguments, places, {}, place_.depth));
    key.push_back(lambda_for(side_, state_, bodies[0], arguments, places, stays, place_.depth));
  }
  key.insert(key.end(), begins.begin(), begins.end());
  const ClassId loop = state_.classes.intern(KeyForm::kWhile, key);
  std::vector<ProofTensor> outputs;
  uint32_t place = 0;
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    const ClassId what = stays[k] ? when_ended(node.inputs[k], loop)
                                  : state_.classes.intern(KeyForm::kOutput, {loop, place++});
    outputs.push_back({what, node.when});
  }
  set_outputs(node.id, std::move(outputs), node.when);
}

// What was handed on through the loop, once that has ended, which is not the same for a loop that ends
// otherwise.
ClassId Numbering::when_ended(ClassId what, ClassId loop) {
  Classes& classes = state_.classes;
  if (classes.label_of(what).form != KeyForm::kHandle) return classes.intern(KeyForm::kAfter, {what, loop});
  const ClassId value = classes.inputs(what)[0];
  return classes.intern(KeyForm::kHandle, {classes.intern(KeyForm::kAfter, {value, loop})});
}

// Which inputs of a While its body hands on as they came, so that they are the same in every iteration. Of
// what is made of an argument of a function around it that is not told: there a place would mean either's.
std::vector<bool> Numbering::staying(const Node& node, ClassId body) {
  std::vector<bool> stays(node.inputs.size());
  Classes& classes = state_.classes;
  if (state_.ordered || classes.unknown(body)) return stays;
  for (uint32_t k = 0; k < node.inputs.size(); ++k) {
    const ClassId argument = classes.intern(KeyForm::kArgument, {k});
    const auto results = classes.inputs(body);  // behind their number: class, condition, ...
    const size_t at = 1 + 2 * size_t{k};
    stays[k] = at + 1 < results.size() && results[at] == argument && results[at + 1] == kAlways &&
               !classes.happens(node.inputs[k]);
  }
  return stays;
}

CallPlace Numbering::place_of_call(NodeId node, uint32_t function) {
  CallPlace place = place_;
  if (place.path != CallPlace::kAnywhere) place.path = side_.path_of_call(place.path, node, function);
  return place;
}

// Whether loops' variables may be in what it gives that are in nothing that it reads.
bool Numbering::sees_loops(const Node& node) {
  const ProofOp& op = node.op();
  if (op.kinds.has(OpKind::kEnter)) return loop_of(node.id) != nullptr;
  return place_.path != CallPlace::kAnywhere &&
         (op.kinds.has_any(OpKind::kWhile | OpKind::kIf | OpKind::kCase | OpKind::kCall) ||
          side_.body(op.name) != nullptr);
}

}  // namespace gedit
