#include "edit/functions/called_function.h"

#include <algorithm>

#include "base/message_edit.h"
#include "edit/functions/always_runs.h"
#include "graph/colocation.h"
#include "graph/edges.h"
#include "graph/function_names.h"
#include "graph/name_attr_list.h"
#include "graph/names.h"
#include "graph/references.h"
#include "ops/kinds.h"
#include "prove/conduct.h"

namespace gedit {
namespace {

constexpr OpKinds kCallKinds = OpKinds(OpKind::kCall) | OpKind::kIf | OpKind::kCase | OpKind::kWhile;
constexpr OpKinds kFlowKinds =
    OpKinds(OpKind::kSwitch) | OpKind::kMerge | OpKind::kEnter | OpKind::kNextIteration | OpKind::kLoopCond;

bool holds_placeholder(std::string_view attr_value, int depth = 0) {
  if (depth > kDeepest) throw Malformed(attr_value.data(), "attribute values nest too deep");
  bool found = false;
  for (Fields fields(attr_value); fields.next();) found = found || fields->bytes(attr_field::kPlaceholder);
  each_name_attr_list(attr_value, [&](std::string_view list) {
    for (Fields fields(list); fields.next() && !found;)
      found = fields->bytes(2) && holds_placeholder(map_entry(fields->value).value, depth + 1);
  });
  return found;
}

std::string bound_func(std::string_view func, std::string_view attrs, int depth);

std::string bound_value(std::string_view attr_value, std::string_view attrs, int depth) {
  if (depth > kDeepest) throw Malformed(attr_value.data(), "attribute values nest too deep");
  for (Fields fields(attr_value); fields.next();) {
    if (!fields->bytes(attr_field::kPlaceholder)) continue;
    if (const auto value = find_attr(attrs, fields->value)) return std::string(*value);
  }
  return with_name_attr_lists(attr_value,
                              [&](std::string_view list) { return bound_func(list, attrs, depth); });
}

std::string bound_func(std::string_view func, std::string_view attrs, int depth) {
  return with_each_entry(func, 2, [&](std::string_view, std::string_view value) {
    return bound_value(value, attrs, depth + 1);
  });
}

bool is_true(std::string_view function_def_or_node, uint32_t attr_number, std::string_view key) {
  for (Fields fields(function_def_or_node); fields.next();) {
    if (!fields->bytes(attr_number) || map_key(fields->value) != key) continue;
    return last_varint(map_entry(fields->value).value, attr_field::kBool) != 0;
  }
  return false;
}

BodyNodes those(const std::vector<bool>& wanted) {
  BodyNodes found;
  found.place.assign(wanted.size(), BodyNodes::kNone);
  for (uint32_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i]) continue;
    found.place[i] = static_cast<uint32_t>(found.nodes.size());
    found.nodes.push_back(i);
  }
  return found;
}

}  // namespace

std::string bound_attr(std::string_view attr_value, std::string_view attrs) {
  return bound_value(attr_value, attrs, 0);
}

std::vector<bool> compiled_functions(const Graph& main, const Library& library) {
  FunctionReach reach(library);
  const auto look = [&](std::string_view node_def) {
    if (is_true(node_def, node_field::kAttr, kMustCompile)) reach.calls_of(node_def);
  };
  for (uint32_t i = 0; i < main.size(); ++i) {
    if (!main.removed(NodeId{i})) look(main.bytes(NodeId{i}));
  }
  for (const Function& function : library.functions) {
    if (function.body.message().find(kMustCompile) == std::string_view::npos) continue;
    if (is_true(function.body.message(), function_field::kAttr, kMustCompile)) reach.call(function.name);
    function.body.each_record(look);
  }
  reach.follow();
  std::vector<bool> compiled(library.functions.size());
  for (size_t i = 0; i < compiled.size(); ++i) compiled[i] = reach.reached(i);
  return compiled;
}

std::vector<bool> behind_control_flow(const Graph& graph) {
  if (!graph.has_any(kFlowKinds)) return {};
  const Names names(graph);
  const Edges readers = reversed(producers(graph, names));
  NodeSet start(graph.size());
  graph.each_of(kFlowKinds, [&](NodeId id) { start.add(id); });
  const NodeSet behind = reach(start, readers, kAnyDistance);
  std::vector<bool> flow(graph.size());
  for (uint32_t i = 0; i < graph.size(); ++i) flow[i] = behind.has(NodeId{i});
  return flow;
}

CalledFunctions::CalledFunctions(Library& library, Registry& ops)
    : library_(library), ops_(ops), op_defs_(ops) {
  for (size_t i = 0; i < library.functions.size(); ++i) by_name_.emplace(library.functions[i].name, i);
  for (const Library::Item& item : library.items) {
    if (item.field == library_field::kGradient) with_gradient_.insert(last_bytes(item.content(), 1));
  }
  find_calls();
  find_effects();
  find_recursive();
}

// Of an op by itself: what a call does is up to what it calls.
bool CalledFunctions::op_has_effects(std::string_view op) {
  const OpKinds kinds = kinds_of(op);
  if (has(op) || kinds.has_any(kCallKinds) || kinds.has_any(OpKinds(OpKind::kVarHandle) | OpKind::kTable))
    return false;
  const OpDef* def = op_defs_.find(op);
  return def == nullptr || def->is_stateful;
}

bool CalledFunctions::has_effects(std::string_view node_def) {
  const std::string_view op = node_op(node_def);
  if (has(op)) return with_effects_.contains(op);
  if (!is(op, OpKind::kCall) && !kinds_of(op).has_any(kCallKinds)) return op_has_effects(op);
  bool any = false;
  each_function_named(node_def, [&](std::string_view name) {
    any = any || with_effects_.contains(name) || (name != op && !has(name));
  });
  return any;
}

bool CalledFunctions::writes(std::string_view node_def) {
  const std::string_view op = node_op(node_def);
  if (has(op) || kinds_of(op).has_any(kCallKinds)) return has_effects(node_def);
  const Conduct conduct = conduct_of(op, op_defs_.find(op));
  return conduct == Conduct::kWrites || conduct == Conduct::kUnknown || conduct == Conduct::kInPlace;
}

void CalledFunctions::find_calls() {
  calls_.resize(library_.functions.size());
  for (size_t i = 0; i < calls_.size(); ++i) {
    library_.functions[i].body.each_record([&](std::string_view node_def) {
      each_function_named(node_def, [&](std::string_view name) {
        if (const auto found = by_name_.find(name); found != by_name_.end())
          calls_[i].push_back(found->second);
      });
    });
  }
}

// Functions that hold an op with effects, or name one that does in any way.
void CalledFunctions::find_effects() {
  std::vector<std::vector<size_t>> callers(calls_.size());
  std::vector<size_t> open;
  for (size_t i = 0; i < calls_.size(); ++i) {
    for (const size_t called : calls_[i]) callers[called].push_back(i);
    bool any = false;
    library_.functions[i].body.each_record(
        [&](std::string_view node_def) { any = any || op_has_effects(node_op(node_def)); });
    if (any && with_effects_.insert(library_.functions[i].name).second) open.push_back(i);
  }
  while (!open.empty()) {
    const size_t at = open.back();
    open.pop_back();
    for (const size_t caller : callers[at]) {
      if (with_effects_.insert(library_.functions[caller].name).second) open.push_back(caller);
    }
  }
}

// A function that reaches itself. Tarjan's components, on a stack of our own.
void CalledFunctions::find_recursive() {
  const size_t count = library_.functions.size();
  constexpr size_t kUnseen = SIZE_MAX;
  std::vector<size_t> number(count, kUnseen), low(count), open;
  std::vector<bool> is_open(count);
  std::vector<std::pair<size_t, size_t>> walk;  // function, the next of its calls
  size_t next = 0;
  for (size_t root = 0; root < count; ++root) {
    if (number[root] != kUnseen) continue;
    walk.emplace_back(root, 0);
    while (!walk.empty()) {
      const auto [at, step] = walk.back();
      if (step == 0) {
        number[at] = low[at] = next++;
        open.push_back(at);
        is_open[at] = true;
      }
      if (step < calls_[at].size()) {
        ++walk.back().second;
        const size_t to = calls_[at][step];
        if (number[to] == kUnseen) {
          walk.emplace_back(to, 0);
        } else if (is_open[to]) {
          low[at] = std::min(low[at], number[to]);
        }
        if (to == at) recursive_.insert(library_.functions[at].name);
        continue;
      }
      walk.pop_back();
      if (!walk.empty()) low[walk.back().first] = std::min(low[walk.back().first], low[at]);
      if (low[at] != number[at]) continue;
      const bool several = open.back() != at;
      for (size_t member = kUnseen; member != at;) {
        member = open.back();
        open.pop_back();
        is_open[member] = false;
        if (several) recursive_.insert(library_.functions[member].name);
      }
    }
  }
}

const CalledFunction* CalledFunctions::find(std::string_view function) {
  const auto made = made_.find(function);
  if (made != made_.end()) return &made->second;
  const auto found = by_name_.find(function);
  if (found == by_name_.end()) return nullptr;
  Function& definition = library_.functions[found->second];
  return &made_.emplace(definition.name, make(definition)).first->second;
}

CalledFunction CalledFunctions::make(Function& function) {
  CalledFunction called;
  called.name = function.name;
  called.body = &function.body;
  Graph& body = function.body;
  body.decode();
  called.op = parse_op_def(function_signature(body));
  called.recursive = recursive_.contains(function.name);
  called.has_gradient = with_gradient_.contains(function.name);
  called.has_effects = with_effects_.contains(function.name);
  const uint32_t count = body.size();
  for (uint32_t i = 0; i < count; ++i) {
    if (!body.removed(NodeId{i})) called.nodes.emplace(body.name(NodeId{i}), i);
  }
  std::vector<uint32_t> wanted;
  const auto node_of = [&](std::string_view input) -> std::optional<uint32_t> {
    const auto found = called.nodes.find(parse_body_input(input).node);
    return found == called.nodes.end() ? std::nullopt : std::optional(found->second);
  };
  called.held.resize(count);
  for (const Part& part : body.parts()) {
    if (part.field == 0) continue;
    const std::string_view content = record_at(part.raw.data()).node_def;
    if (part.field == function_field::kRet) {
      const MapEntry entry = map_entry(content);
      called.returns.insert_or_assign(entry.key, entry.value);
      if (const auto node = node_of(entry.value)) {
        wanted.push_back(*node);
      } else {
        called.reads.insert(parse_body_input(entry.value).node);
        called.needs.insert(parse_body_input(entry.value).node);
      }
    } else if (part.field == function_field::kControlRet) {
      const auto node = called.nodes.find(map_entry(content).value);
      if (node == called.nodes.end()) continue;
      wanted.push_back(node->second);
      if (!called.held[node->second]) called.waits.push_back(node->second);
      called.held[node->second] = true;
    }
  }
  const std::string_view message = body.message();
  called.stays = is_true(message, function_field::kAttr, "_noinline") ||
                 is_true(message, function_field::kAttr, kMustCompile);

  called.flow = behind_control_flow(body);
  AlwaysRuns always(body);
  const auto wait_behind_flow = [&](std::vector<uint32_t>& nodes, std::optional<uint32_t>& lost) {
    if (called.flow.empty()) return;
    nodes = always.behind(nodes, lost);
    for (const uint32_t node : nodes) {
      called.held[node] = true;
      wanted.push_back(node);
    }
  };
  wait_behind_flow(called.waits, called.lost_wait);

  std::vector<bool> needed(count);
  const auto need = [&] {
    while (!wanted.empty()) {
      const uint32_t at = wanted.back();
      wanted.pop_back();
      if (needed[at]) continue;
      needed[at] = true;
      each_input(body.bytes(NodeId{at}), [&](std::string_view input) {
        if (const auto node = node_of(input)) wanted.push_back(*node);
      });
    }
  };
  need();
  called.needed = those(needed);
  called.effects.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    if (body.removed(NodeId{i})) continue;
    const std::string_view node_def = body.bytes(NodeId{i});
    called.effects[i] = has_effects(node_def);
    if (called.effects[i] && !called.needed.has(i)) called.loose.push_back(i);
    each_input(node_def, [&](std::string_view input) {
      const auto node = node_of(input);
      if (!node) {
        called.reads.insert(parse_body_input(input).node);
        if (needed[i]) called.needs.insert(parse_body_input(input).node);
      }
      if (node && input.starts_with('^')) called.held[*node] = true;
    });
    each_attr(node_def, [&](std::string_view key, std::string_view value) {
      called.binds = called.binds || holds_placeholder(value);
      if (key != "_class") return;
      for (Fields list(last_bytes(value, attr_field::kList)); list.next();) {
        if (!list->bytes(attr_field::kString)) continue;
        const auto with = colocated_with(list->value);
        const auto node = with ? called.nodes.find(*with) : called.nodes.end();
        if (node != called.nodes.end() && node->second != i) called.held[node->second] = true;
      }
    });
  }
  wanted = called.loose;
  wait_behind_flow(called.loose, called.lost_loose);
  need();
  called.all = those(needed);
  return called;
}

}  // namespace gedit
