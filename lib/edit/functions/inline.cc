#include "edit/functions/inline.h"

#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "edit/basis/addresses.h"
#include "edit/functions/call_site.h"
#include "edit/functions/unfolded_size.h"
#include "graph/colocation.h"
#include "graph/function_names.h"
#include "graph/wiring.h"
#include "model/calls.h"
#include "model/captured_tensors.h"
#include "model/object_nodes.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr OpKinds kConds = OpKinds(OpKind::kIf) | OpKind::kCase;

bool is_call(const CalledFunctions& functions, std::string_view op, OpKinds kinds) {
  return kinds.has_any(kUnfolding) || functions.has(op);
}

// The nodes of calls that keep their names, since something other than a reader of their results names them.
class HeldNames {
 public:
  HeldNames(const Graph& graph, const std::unordered_set<std::string_view>& calls,
            const std::set<std::string, std::less<>>* named)
      : calls_(calls) {
    for (uint32_t i = 0; i < graph.size(); ++i) {
      if (graph.removed(NodeId{i})) continue;
      const std::string_view node_def = graph.bytes(NodeId{i});
      for (Fields fields(node_def); fields.next();) {
        if (fields->bytes(node_field::kInput)) {
          const Input input = parse_input_of(graph, fields->value);
          if (!calls_.contains(input.node)) continue;
          (input.control ? held_ : read_).insert(input.node);
        } else if (fields->bytes(node_field::kAttr) && map_key(fields->value) == "_class") {
          hold_colocated(map_entry(fields->value).value, node_name(node_def));
        }
      }
    }
    for (const Part& part : graph.parts()) {
      if (!graph.is_body() ||
          (part.field != function_field::kRet && part.field != function_field::kControlRet))
        continue;
      const MapEntry entry = map_entry(record_at(part.raw.data()).node_def);
      if (part.field == function_field::kControlRet) {
        hold(entry.value);
      } else {
        read_.insert(parse_body_input(entry.value).node);
      }
    }
    if (named == nullptr) return;
    for (const std::string& one : *named) hold(parse_input(one).node);
  }

  // What nobody reads is what the graph is for.
  bool holds(std::string_view call) const { return held_.contains(call) || !read_.contains(call); }

 private:
  void hold(std::string_view node) {
    if (const auto found = calls_.find(node); found != calls_.end()) held_.insert(*found);
  }
  void hold_colocated(std::string_view value, std::string_view own) {
    for (Fields list(last_bytes(value, attr_field::kList)); list.next();) {
      const auto with = list->bytes(attr_field::kString) ? colocated_with(list->value) : std::nullopt;
      if (with && *with != own) hold(*with);
    }
  }

  const std::unordered_set<std::string_view>& calls_;
  std::unordered_set<std::string_view> held_, read_;
};

// The node that gives what the node gave, behind what only hands it on.
std::string made_by(InlinedGraph& graph, const std::string& node) {
  std::string tensor = graph.resolved(node);
  std::unordered_set<uint32_t> seen;
  for (;;) {
    const NodeId id = graph.producer(tensor);
    if (id == kNoNode) return node;
    const std::vector<std::string_view> inputs = input_views(graph.graph().bytes(id));
    const bool hands_on =
        graph.graph().is(id, OpKind::kIdentity) && !inputs.empty() && !inputs[0].starts_with('^');
    if (!hands_on || !seen.insert(index_of(id)).second) return std::string(graph.graph().name(id));
    tensor = graph.resolved(inputs[0]);
  }
}

// Deals with the calls of one graph. `compiled`: XLA takes no Switch, Merge and Enter of it. `objects`: of a
// main graph, the nodes that stand for its objects: a call that makes a table gives way to it.
InlineResult inline_graph(Graph& graph, std::string_view function, CalledFunctions& functions,
                          const InlineRequest& request, bool compiled,
                          std::unordered_map<uint32_t, std::string>* objects = nullptr) {
  graph.decode();
  bool any = false;
  for (const auto& [op, count] : graph.op_counts()) any = any || is_call(functions, op, kinds_of(op));
  if (!any) return {};
  InlineState state(graph, functions, request);
  std::vector<NodeId> calls;
  std::unordered_set<std::string_view> names;
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const NodeId id{i};
    if (graph.removed(id) || !is_call(functions, graph.op(id), graph.kinds(id))) continue;
    calls.push_back(id);
    names.insert(graph.name(id));
  }
  {
    const HeldNames held(graph, names, request.named);
    const std::vector<bool> flow = behind_control_flow(graph);
    for (const NodeId id : calls) {
      CallSite site;
      site.id = id;
      site.flow = !flow.empty() && flow[index_of(id)];
      site.held = held.holds(graph.name(id));
      state.add_site(std::move(site));
    }
  }
  for (size_t next = 0; next < state.sites.size(); ++next) {
    const CallSite site = state.sites[next];
    const std::string_view node_def = graph.bytes(site.id);
    const OpKinds kinds = graph.kinds(site.id);
    const bool cond = kinds.has_any(kConds), loop = kinds.has(OpKind::kWhile);
    if ((cond || loop) && !request.lower) continue;
    if (!site.wanted && request.wanted != nullptr && !request.wanted(node_def)) continue;
    const std::string why = compiled && (cond || loop) ? "XLA compiles the function that it is in"
                            : cond                     ? lower_cond(state, site)
                            : loop                     ? lower_loop(state, site)
                                                       : inline_call(state, site);
    if (why.empty()) {
      ++(cond ? state.result.conds : loop ? state.result.loops : state.result.calls);
    } else {
      state.result.kept.emplace_back(address(function, graph.name(site.id)), why);
    }
  }
  if (objects != nullptr) {
    for (auto& [id, node] : *objects) node = made_by(state.graph, node);
  }
  state.graph.finish();
  return std::move(state.result);
}

// Calls tell which node stands for which object.
void remember_objects(MetaGraph& meta) {
  const std::string_view objects = meta.part(meta_field::kObjectGraph);
  if (objects.empty()) return;
  meta.graph.decode();
  const Names names(meta.graph);
  for (const auto& [node, object] : object_nodes(meta, names, read_saved_objects(objects)))
    meta.called_objects.emplace(object, meta.graph.name(NodeId{node}));
}

void tell_objects(MetaGraph& meta) {
  const std::string_view bytes = meta.part(meta_field::kObjectGraph);
  if (bytes.empty()) return;
  SavedObjects objects = read_saved_objects(bytes);
  name_by_nodes(objects, meta);
  if (std::string now = saved_objects_bytes(objects); now != bytes)
    meta.set_part(meta_field::kObjectGraph, std::move(now));
}

void add_to(InlineResult& all, InlineResult one) {
  all.calls += one.calls;
  all.conds += one.conds;
  all.loops += one.loops;
  std::move(one.kept.begin(), one.kept.end(), std::back_inserter(all.kept));
}

}  // namespace

InlineResult inline_functions(MetaGraph& meta, Registry& ops, const InlineRequest& request) {
  const std::string_view bytes = meta.graph.part(graph_field::kLibrary);
  if (bytes.empty()) return {};
  Library library = Library::decode(bytes, meta.graph.arena());
  std::vector<bool> before = called_functions(meta, library);
  CalledFunctions functions(library, ops);
  const UnfoldedSizes sizes(bytes, *meta.graph.arena(), request);
  sizes.refuse_endless(meta.graph);
  remember_objects(meta);
  const std::vector<bool> compiled =
      request.lower ? compiled_functions(meta.graph, library) : std::vector<bool>(before.size());
  InlineResult result = inline_graph(meta.graph, {}, functions, request, false, &meta.called_objects);
  if (result.calls > 0) tell_objects(meta);

  // What is still called; bodies are edited in a second library, since the first is what calls unfold to.
  InlineRequest inside = request;
  const CapturedTensors captured = captured_tensors(meta.part(meta_field::kObjectGraph));
  Library edited = Library::decode(bytes, meta.graph.arena());
  const std::vector<bool> called = called_functions(meta, library);
  for (size_t i = 0; i < called.size(); ++i) {
    // One that nothing called before stays as it is.
    if (!called[i]) continue;
    Function& function = edited.functions[i];
    sizes.refuse_endless(function.body);
    const auto named = captured.find(function.name);
    inside.named = named == captured.end() ? nullptr : &named->second;
    add_to(result, inline_graph(function.body, function.name, functions, inside, compiled[i]));
  }
  if (!result.any()) return result;
  meta.graph.set_part(graph_field::kLibrary, edited.encode());

  const std::string_view now = meta.graph.part(graph_field::kLibrary);
  const Library left = Library::decode(now, meta.graph.arena());
  FunctionReach reach(left);
  const std::vector<bool> after = called_functions(meta, left);
  for (size_t i = 0; i < after.size(); ++i) {
    if (after[i] || !before[i] || captured.contains(left.functions[i].name)) {
      reach.call(left.functions[i].name);
    } else {
      ++result.functions;
    }
  }
  if (result.functions > 0) {
    reach.follow();
    std::string reduced = reduced_library(left, reach);
    std::vector<std::string> parts;
    if (!reduced.empty()) parts.push_back(std::move(reduced));
    meta.graph.set_parts(graph_field::kLibrary, std::move(parts));
  }
  return result;
}

}  // namespace gedit
