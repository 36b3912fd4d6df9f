#include "edit/basis/facts.h"

#include <algorithm>
#include <cassert>

#include "edit/basis/addresses.h"
#include "graph/types.h"
#include "model/references.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// Nodes under `<variable>/` that read the variable, as TensorFlow lays them out; for graphs without
// VariableDefs.
bool is_satellite_op(std::string_view op) {
  return is_assign_op(op) || is(op, OpKind::kReadsValue) || is(op, OpKind::kAsksInitialized);
}

Graph& decoded_body(Library& library, std::string_view function) {
  Graph& body = find_function(library, function).body;
  body.decode();
  return body;
}

}  // namespace

Facts::Facts(Model& around, Registry& registry, std::string_view function)
    : model(around),
      ops(registry),
      selecting_(around, registry),
      graph_(function.empty() ? around.graph() : decoded_body(selecting_.library(), function)),
      function_(function),
      edited_before_(graph_.edited()) {}

Facts::Facts(Model& around, Registry& registry, const GraphIndex* known) : Facts(around, registry) {
  known_index_ = known;
}

template <typename Fact, typename Make>
const Fact& Facts::known(std::optional<Fact>& fact, Make make) const {
  if (!fact) {
    assert(edited_before_ || !graph_.edited());
    fact.emplace(make());
  }
  return *fact;
}

const Names& Facts::names() const {
  names_asked_ = true;
  if (known_index_ != nullptr) return known_index_->names();
  if (!in_body()) return selecting_.names();
  return known(body_names_, [&] { return Names(graph_); });
}

const Edges& Facts::producers() const {
  names_asked_ = true;
  if (known_index_ != nullptr) return known_index_->producers();
  if (!in_body()) return selecting_.producers();
  return known(body_producers_, [&] { return gedit::producers(graph_, names()); });
}

const Edges& Facts::consumers() const {
  // What became of the graph since nodes were asked for whom they read changes nothing.
  if (!consumers_) consumers_ = reversed(producers());
  return *consumers_;
}

const Tensors& Facts::tensors() const {
  return known(tensors_, [&] { return Tensors(model, graph_, names(), ops, function_); });
}

const Facts::FirstPass& Facts::first_pass() const {
  return known(first_pass_, [&] {
    FirstPass found;
    constexpr OpKinds kSavers = OpKind::kSave | OpKind::kRestore;
    constexpr OpKinds kState = OpKind::kVariable | OpKind::kTable;
    graph_.each_of(kSavers | kState | OpKind::kEnter, [&](NodeId id) {
      if (graph_.is(id, kSavers)) {
        found.savers.push_back(id);
      } else if (graph_.is(id, kState)) {
        found.state.push_back(id);
      } else {
        found.loops = true;
      }
    });
    return found;
  });
}

const Frames& Facts::frames() const {
  return known(frames_, [&] {
    return first_pass().loops ? Frames(graph_, producers(), true) : Frames(graph_, Edges(), false);
  });
}

const Savers& Facts::savers() const {
  return known(savers_, [&] {
    if (in_body() || first_pass().savers.empty()) return Savers();
    return find_savers(graph_, names(), consumers(), variable_initializers(model.meta(), names()),
                       first_pass().savers);
  });
}

const std::vector<Collection>& Facts::collections() const {
  return known(collections_,
               [&] { return in_body() ? std::vector<Collection>() : gedit::collections(model.meta()); });
}

const std::unordered_map<uint32_t, StateOf>& Facts::state() const { return all_state().nodes; }
const std::unordered_map<uint32_t, NodeId>& Facts::initializer_owner() const { return all_state().owners; }

bool Facts::only_waits(NodeId id) const {
  constexpr size_t kMostPassed = 64;  // a call for each call that it stood in
  std::vector<NodeId> open{id};
  for (size_t at = 0; at < open.size(); ++at) {
    if (graph_.is(open[at], OpKind::kConst)) continue;
    if (at == 0 && graph_.is(id, OpKind::kNoOp)) return true;
    const bool passes = graph_.is(open[at], OpKind::kIdentity) || graph_.op(open[at]) == "IdentityN";
    if (!passes || open.size() > kMostPassed) return false;
    each_input(graph_.bytes(open[at]), [&](std::string_view text) {
      const Input input = parse_input(text);
      if (!input.control) open.push_back(names().find(input.node));
    });
    if (std::ranges::find(open, kNoNode) != open.end()) return false;
  }
  return !graph_.is(id, OpKind::kConst);
}

bool Facts::reads_first(NodeId reader, NodeId source) const {
  for (Fields fields(graph_.bytes(reader)); fields.next();) {
    if (!fields->bytes(node_field::kInput)) continue;
    return !fields->value.starts_with('^') &&
           names().find(parse_input_of(graph_, fields->value).node) == source;
  }
  return false;
}

std::vector<NodeId> Facts::handle_readers(NodeId id) const {
  std::vector<NodeId> found, open{id};
  std::unordered_set<uint32_t> seen{index_of(id)};
  while (!open.empty()) {
    const NodeId at = open.back();
    open.pop_back();
    for (const NodeId reader : consumers().of(at)) {
      if (!graph_.is(reader, OpKind::kIdentity)) {
        found.push_back(reader);
      } else if (reads_first(reader, at) && seen.insert(index_of(reader)).second) {
        open.push_back(reader);
      }
    }
  }
  return found;
}

void Facts::make_all() const {
  tensors();
  producers();  // and so consumers()
  frames();
  savers();
  state();
}

const Facts::State& Facts::all_state() const {
  return known(state_, [&] {
    State state;
    add_described(state);
    add_unnamed(state);
    for (const auto& [index, variable] : state.nodes) {
      if (variable.initializer != kNoNode)
        state.owners.emplace(index_of(variable.initializer), variable.node);
      for (const NodeId id : variable.table ? variable.satellites : std::vector<NodeId>())
        state.owners.emplace(index_of(id), variable.node);
    }
    return state;
  });
}

// What VariableDefs describe.
void Facts::add_described(State& state) const {
  const auto add = [&](StateOf& variable, std::string_view name) {
    const NodeId id = name.empty() ? kNoNode : names().find(node_of(name));
    if (id == kNoNode || id == variable.node) return kNoNode;
    if (std::find(variable.satellites.begin(), variable.satellites.end(), id) == variable.satellites.end()) {
      variable.satellites.push_back(id);
    }
    return id;
  };
  for (const Collection& collection : collections()) {
    if (collection.kind != collection_kind::kBytesList || !holds_variables(collection.key)) continue;
    for (const std::string_view def : collection.items) {
      const VariableNames of = variable_names(def);
      const NodeId node = names().find(node_of(of.variable));
      if (node == kNoNode) continue;
      StateOf& variable = state.nodes[index_of(node)];
      variable.node = node;
      variable.described = true;
      if (const NodeId id = add(variable, of.initializer); id != kNoNode) variable.initializer = id;
      add(variable, of.snapshot);
      add(variable, of.initial_value);
    }
  }
}

// All other variables and tables, by their ops.
void Facts::add_unnamed(State& state) const {
  std::unordered_set<std::string_view> creating, initializing;
  if (Library& library = selecting_.library(); !library.functions.empty()) {
    creating = functions_with(library, is_table_op);
    // A saver fills tables, too, with what it restores.
    initializing = functions_with(library, is_table_initializer_op);
    if (!initializing.empty()) {
      for (const std::string_view name : functions_with(library, is_restore_op)) initializing.erase(name);
    }
  }
  const auto initializes = [&](std::string_view node_def) {
    return is_table_initializer_op(node_op(node_def)) || initializing.contains(called_function(node_def));
  };
  // A function that makes a table and hands it out.
  const auto creates = [&](std::string_view node_def) {
    if (creating.empty() || !creating.contains(called_function(node_def))) return false;
    const auto types = output_types(ops, node_def);
    return types && std::find(types->begin(), types->end(), DType::kResource) != types->end();
  };
  std::vector<NodeId> behind;
  const auto readers = [&](NodeId id, bool table) -> std::span<const NodeId> {
    if (!table) return consumers().of(id);
    behind = handle_readers(id);
    return behind;
  };
  const auto note = [&](NodeId id, bool table) {
    StateOf& variable = state.nodes[index_of(id)];
    variable.node = id;
    variable.table = table;
    if (variable.described) return;
    for (const NodeId reader : readers(id, table)) {
      const std::string_view reader_op = graph_.op(reader);
      const std::string_view name = graph_.name(reader);
      const bool own = table ? initializes(graph_.bytes(reader))
                             : is_satellite_op(reader_op) && in_scope(name, graph_.name(id));
      if (!own) continue;
      // Who reads twice stands there twice, one after the other.
      if (!variable.satellites.empty() && variable.satellites.back() == reader) continue;
      variable.satellites.push_back(reader);
      const bool first =
          table || (is_assign_op(reader_op) && name == std::string(graph_.name(id)) + "/Assign");
      if (first && variable.initializer == kNoNode) variable.initializer = reader;
    }
  };
  for (const NodeId id : first_pass().state) note(id, graph_.is(id, OpKind::kTable));
  for (uint32_t i = 0; i < graph_.size() && !creating.empty(); ++i) {
    if (!graph_.removed(NodeId{i}) && creates(graph_.bytes(NodeId{i}))) note(NodeId{i}, true);
  }
}

}  // namespace gedit
