#include "optimize/waited.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <vector>

#include "graph/edges.h"
#include "graph/function_names.h"
#include "graph/names.h"
#include "graph/wiring.h"

namespace gedit::optimizing {
namespace {

void each_called(const Graph& graph, const std::function<void(std::string_view)>& use) {
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (!graph.removed(NodeId{i})) each_function_named(graph.bytes(NodeId{i}), use);
  }
}

// What stands behind a write; empty where nothing writes.
NodeSet behind_writes(const Graph& graph, const Effects& effects, Labels& labels, const Edges& producers) {
  NodeSet writers(graph.size());
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (!graph.removed(NodeId{i}) && effects.writes(graph.bytes(NodeId{i}), labels)) writers.add(NodeId{i});
  }
  return writers.empty() ? writers : reach(writers, reversed(producers), kAnyDistance);
}

}  // namespace

std::unordered_set<std::string> called_behind_writes(const Graph& graph, const Library& library,
                                                     const Effects& effects, Labels& labels) {
  std::unordered_set<std::string> found;
  if (library.functions.empty()) return found;
  std::vector<std::string> open;
  const auto call = [&](std::string_view function) {
    if (found.emplace(function).second) open.emplace_back(function);
  };
  const auto look_at = [&](const Graph& at) {
    bool any = false;
    each_called(at, [&](std::string_view) { any = true; });
    if (!any) return;
    const Names names(at);
    const Edges sources = producers(at, names);
    const NodeSet behind = behind_writes(at, effects, labels, sources);
    if (behind.empty()) return;
    for (uint32_t i = 0; i < at.size(); ++i) {
      const auto stands_behind = [&](NodeId source) { return behind.has(source); };
      if (!at.removed(NodeId{i}) && std::ranges::any_of(sources.of(NodeId{i}), stands_behind))
        each_function_named(at.bytes(NodeId{i}), call);
    }
  };
  look_at(graph);
  for (const Function& function : library.functions) look_at(function.body);
  std::unordered_map<std::string_view, const Function*> by_name;
  for (const Function& function : library.functions) by_name.emplace(function.name, &function);
  while (!open.empty()) {
    const auto function = by_name.find(open.back());
    open.pop_back();
    if (function != by_name.end()) each_called(function->second->body, call);
  }
  return found;
}

std::unordered_set<std::string> used_arguments(const Graph& body) {
  std::unordered_set<std::string> arguments, used;
  for (const std::string_view argument : argument_names(function_signature(body)))
    arguments.emplace(argument);
  const auto use = [&](std::string_view text) {
    const std::string name(parse_body_input(text).node);
    if (arguments.contains(name)) used.insert(name);
  };
  for (uint32_t i = 0; i < body.size(); ++i) {
    if (!body.removed(NodeId{i})) each_input(body.bytes(NodeId{i}), use);
  }
  for (const Part& part : body.parts()) {
    if (part.field == function_field::kRet) use(map_entry(record_at(part.raw.data()).node_def).value);
  }
  return used;
}

}  // namespace gedit::optimizing
