#include "edit/basis/facts.h"

#include <algorithm>

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

std::unordered_set<std::string_view> functions_with(const Library& library,
                                                    const std::function<bool(std::string_view)>& wanted) {
  std::unordered_set<std::string_view> found;
  std::vector<std::string_view> stack;
  for (const Function& function : library.functions) {
    bool holds = false;
    function.body.each_record([&](std::string_view node_def) { holds = holds || wanted(node_op(node_def)); });
    if (holds && found.insert(function.name).second) stack.push_back(function.name);
  }
  if (found.empty()) return found;
  std::unordered_set<std::string_view> known;
  for (const Function& function : library.functions) known.insert(function.name);
  std::unordered_multimap<std::string_view, std::string_view> callers;
  for (const Function& function : library.functions) {
    function.body.each_record([&](std::string_view node_def) {
      if (const std::string_view called = called_function(node_def); known.contains(called))
        callers.emplace(called, function.name);
    });
  }
  while (!stack.empty()) {
    const auto range = callers.equal_range(stack.back());
    stack.pop_back();
    for (auto it = range.first; it != range.second; ++it) {
      if (found.insert(it->second).second) stack.push_back(it->second);
    }
  }
  return found;
}

Landmarks::Landmarks(const Graph& graph) {
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const NodeId id{i};
    if (graph.removed(id)) continue;
    const std::string_view op = node_op(graph.bytes(id));
    if (is_save_op(op) || is_restore_op(op)) {
      savers.push_back(id);
    } else if (is_variable_op(op) || is_table_op(op)) {
      state.push_back(id);
    } else {
      loops = loops || is_enter_op(op);
    }
  }
}

Facts::Facts(Model& around, Registry& registry, std::string_view function)
    : model(around),
      ops(registry),
      selecting(around, registry),
      edited(function.empty() ? around.graph() : decoded_body(selecting.library(), function)),
      body_names(edited.is_body() ? std::make_optional<Names>(edited) : std::nullopt),
      body_producers(edited.is_body() ? std::make_optional(gedit::producers(edited, *body_names))
                                      : std::nullopt),
      names(body_names ? *body_names : selecting.names()),
      producers(body_producers ? *body_producers : selecting.producers()),
      tensors(around, edited, names, registry, function),
      consumers(reversed(producers)),
      landmarks(edited),
      frames(edited, producers, landmarks.loops),
      savers(edited.is_body() ? Savers()
                              : find_savers(edited, names, consumers,
                                            variable_initializers(around.meta(), names), landmarks.savers)),
      all_collections(edited.is_body() ? std::vector<Collection>() : collections(around.meta())) {
  const Graph& nodes = graph();
  const auto add = [&](StateOf& variable, std::string_view name) {
    const NodeId id = name.empty() ? kNoNode : names.find(node_of(name));
    if (id == kNoNode || id == variable.node) return kNoNode;
    if (std::find(variable.satellites.begin(), variable.satellites.end(), id) == variable.satellites.end()) {
      variable.satellites.push_back(id);
    }
    return id;
  };
  for (const Collection& collection : all_collections) {
    if (collection.kind != collection_kind::kBytesList || !holds_variables(collection.key)) continue;
    for (const std::string_view def : collection.items) {
      const VariableNames of = variable_names(def);
      const NodeId node = names.find(node_of(of.variable));
      if (node == kNoNode) continue;
      StateOf& variable = state[index_of(node)];
      variable.node = node;
      variable.described = true;
      if (const NodeId id = add(variable, of.initializer); id != kNoNode) variable.initializer = id;
      add(variable, of.snapshot);
      add(variable, of.initial_value);
    }
  }
  std::unordered_set<std::string_view> creating, initializing;
  if (Library& library = selecting.library(); !library.functions.empty()) {
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
    const auto types = output_types(registry, node_def);
    return types && std::find(types->begin(), types->end(), DType::kResource) != types->end();
  };
  const auto note = [&](NodeId id, bool table) {
    StateOf& variable = state[index_of(id)];
    variable.node = id;
    variable.table = table;
    if (variable.described) return;
    for (const NodeId reader : consumers.of(id)) {
      const std::string_view reader_op = node_op(nodes.bytes(reader));
      const std::string_view name = nodes.name(reader);
      const bool own = table ? initializes(nodes.bytes(reader))
                             : is_satellite_op(reader_op) && in_scope(name, nodes.name(id));
      if (!own) continue;
      // Who reads twice stands there twice, one after the other.
      if (!variable.satellites.empty() && variable.satellites.back() == reader) continue;
      variable.satellites.push_back(reader);
      const bool first =
          table || (is_assign_op(reader_op) && name == std::string(nodes.name(id)) + "/Assign");
      if (first && variable.initializer == kNoNode) variable.initializer = reader;
    }
  };
  for (const NodeId id : landmarks.state) note(id, is_table_op(node_op(nodes.bytes(id))));
  for (uint32_t i = 0; i < nodes.size() && !creating.empty(); ++i) {
    if (!nodes.removed(NodeId{i}) && creates(nodes.bytes(NodeId{i}))) note(NodeId{i}, true);
  }
  for (const auto& [index, variable] : state) {
    if (variable.initializer != kNoNode)
      initializer_owner.emplace(index_of(variable.initializer), variable.node);
    for (const NodeId id : variable.table ? variable.satellites : std::vector<NodeId>())
      initializer_owner.emplace(index_of(id), variable.node);
  }
}

}  // namespace gedit
