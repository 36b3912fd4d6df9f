#include "model/machinery.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/parallel.h"
#include "graph/function_names.h"
#include "graph/library.h"
#include "model/collections.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr OpKinds kSaves = OpKind::kSave | OpKind::kRestore | OpKind::kMergeCheckpoints;

// The functions that save or restore something, in what they call, too.
std::unordered_set<std::string_view> saving_functions(const Graph& graph) {
  const std::string_view library = graph.part(graph_field::kLibrary);
  std::unordered_set<std::string_view> found;
  std::vector<std::string_view> open;
  each_body_node(library, *graph.arena(), [&](std::string_view function, std::string_view node_def) {
    if (kinds_of(node_op(node_def)).has_any(kSaves) && found.insert(function).second)
      open.push_back(function);
  });
  if (open.empty()) return found;
  std::unordered_map<std::string_view, std::vector<std::string_view>> callers;
  each_body_node(library, *graph.arena(), [&](std::string_view function, std::string_view node_def) {
    each_function_named(node_def, [&](std::string_view name) { callers[name].push_back(function); });
  });
  while (!open.empty()) {
    const std::string_view called = open.back();
    open.pop_back();
    for (const std::string_view caller : callers[called]) {
      if (found.insert(caller).second) open.push_back(caller);
    }
  }
  return found;
}

}  // namespace

Machinery::Machinery(const SummarizedGraph& of)
    : of_(of), savers_(of.graph.size()), gradients_(of.graph.size()), is_differentiated_(of.graph.size()) {
  find_savers();
  find_loops();
  find_initializers();
  find_differentiated();
  find_weights();
}

void Machinery::find_savers() {
  const auto functions = saving_functions(of_.graph);
  NodeSet names(of_.graph.size()), operations(of_.graph.size()), asking(of_.graph.size());
  trains_ = of_.graph.has_any(OpKind::kApply);
  of_.graph.each_of(OpKind::kAsksInitialized, [&](NodeId id) { asking.add(id); });
  of_.graph.each_of(kSaves, [&](NodeId id) { operations.add(id); });
  for (uint32_t i = 0; i < of_.graph.size() && !functions.empty(); ++i) {
    each_function_named(of_.graph.bytes(NodeId{i}), [&](std::string_view name) {
      if (functions.contains(name)) operations.add(NodeId{i});
    });
  }
  for (const NodeId id : operations.nodes()) {
    const auto sources = of_.producers.of(id);
    if (!sources.empty()) names.add(sources[0]);
  }
  savers_ = reach(names, of_.producers, kAnyDistance);
  // A sharded saver's file names are made of what may be the model's own; a Save node is not upstream of a
  // name.
  for (const NodeId id : operations.nodes()) savers_.add(id);
  asks_ = reach(asking, of_.consumers, kAnyDistance);
}

// What hangs on an Enter, as far as the Exits.
void Machinery::find_loops() {
  loops_ = NodeSet(of_.graph.size());
  std::vector<NodeId> open;
  const auto take = [&](NodeId id) {
    if (!of_.graph.is(id, OpKind::kExit) && loops_.add(id)) open.push_back(id);
  };
  of_.graph.each_of(OpKind::kEnter, take);
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    for (const NodeId reader : of_.consumers.of(id)) take(reader);
  }
}

void Machinery::find_initializers() {
  for (const Collection& collection : collections(of_.meta)) {
    if (collection.kind != collection_kind::kBytesList || !holds_variables(collection.key)) continue;
    for (const std::string_view def : collection.items) {
      const VariableNames named = variable_names(def);
      for (const std::string_view name : {named.initializer, named.snapshot, named.initial_value}) {
        if (const NodeId id = of_.names.find(node_of(name)); id != kNoNode)
          initializers_.insert(index_of(id));
      }
    }
  }
}

// `gradients/NAME_grad/...` is made of the gradient of NAME.
void Machinery::find_differentiated() {
  for (const NodeId id : of_.named_gradients) {
    const std::string_view name = of_.graph.name(id);
    if (name.starts_with("gradients") || name.find("/gradients") != std::string_view::npos)
      gradients_.add(id);
    const size_t at = name.find("gradients");
    const size_t slash = name.find('/', at);
    if (slash == std::string_view::npos) continue;
    const size_t end = name.find("_grad/", slash);
    if (end == std::string_view::npos) continue;
    const NodeId forward = of_.names.find(name.substr(slash + 1, end - slash - 1));
    if (forward != kNoNode) is_differentiated_.add(forward);
  }
  through_identities();
  differentiated_ = is_differentiated_.nodes();
}

// The gradient of an Identity is no node of its own: one between differentiated nodes counts as one of them.
void Machinery::through_identities() {
  std::vector<NodeId> open = is_differentiated_.nodes();
  while (!open.empty()) {
    const NodeId at = open.back();
    open.pop_back();
    for (const NodeId reader : of_.consumers.of(at)) {
      if (!of_.graph.is(reader, OpKind::kIdentity) || is_differentiated_.has(reader)) continue;
      const auto readers = of_.consumers.of(reader);
      if (std::ranges::none_of(readers, [&](NodeId next) { return is_differentiated_.has(next); })) continue;
      is_differentiated_.add(reader);
      open.push_back(reader);
    }
  }
}

void Machinery::find_weights() {
  // Weights, and what only hands them on.
  NodeSet weights(of_.graph.size()), users(of_.graph.size());
  std::vector<NodeId> open;
  const auto take = [&](NodeId id) {
    if (weights.add(id)) open.push_back(id);
  };
  of_.graph.each_of(OpKind::kVariable, take);
  for (const NodeId id : of_.weights.nodes()) take(id);
  while (!open.empty()) {
    const NodeId weight = open.back();
    open.pop_back();
    for (const NodeId reader : of_.consumers.of(weight)) {
      if (of_.graph.is(reader, OpKind::kReadsValue | OpKind::kIdentity | OpKind::kEnter)) {
        take(reader);
      } else if (in_network(reader)) {
        users.add(reader);
      }
    }
  }
  NodeSet beside(of_.graph.size());
  for (const NodeId user : users.nodes()) {
    for (const NodeId other : of_.producers.of(user)) {
      if (in_network(other)) beside.add(other);
    }
  }
  in_parallel(2, [&](size_t i) {
    if (i == 0) {
      before_weights_ = spread(beside, of_.producers);
    } else {
      behind_weights_ = spread(users, of_.consumers);
    }
  });
}

// What steps variables hangs on gradients, and they on all of the network.
bool Machinery::in_network(NodeId id) const {
  return !of_.graph.is(id, OpKind::kNoResult) && !of_gradients(id);
}

NodeSet Machinery::spread(const NodeSet& from, const Edges& edges) const {
  NodeSet found = from;
  std::vector<NodeId> open = from.nodes();
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    for (const NodeId next : edges.of(id)) {
      if (in_network(next) && found.add(next)) open.push_back(next);
    }
  }
  return found;
}

}  // namespace gedit
