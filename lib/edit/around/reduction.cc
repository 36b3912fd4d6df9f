#include "edit/around/reduction.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/error.h"
#include "base/parallel.h"
#include "checkpoint/object_edits.h"
#include "edit/around/colocations.h"
#include "edit/around/keep.h"
#include "edit/savers/assigned.h"
#include "graph/function_names.h"
#include "graph/string_const.h"
#include "ops/kinds.h"

namespace gedit {

namespace {

bool any_described(const Facts& facts) {
  return std::ranges::any_of(facts.state(), [](const auto& state) { return state.second.described; });
}

// Replicas of a mirrored variable, of which one is saved and described, are restored with it.
std::unordered_set<uint32_t> saved_variables_of(const Facts& facts) {
  std::unordered_set<uint32_t> saved;
  for (const SaverNode& restore : facts.savers().restores) {
    for (const auto& [variable, output] : assigned_by(facts, restore.node)) saved.insert(index_of(variable));
  }
  for (const SaverNode& save : facts.savers().saves) {
    for (const SavedTensor& tensor : save.tensors) saved.insert(index_of(tensor.variable));
  }
  return saved;
}

}  // namespace

Reduction::Reduction(Facts& facts, Closure& closure)
    : facts_(facts),
      graph_(facts.model.graph()),
      closure_(closure),
      contexts_(facts),
      groups_(graph_.size()),
      savers_(facts, closure),
      saver_functions_(facts, closure) {
  if (facts.model.meta().has(meta_field::kObjectGraph)) objects_.emplace(facts);
}

void Reduction::keep_what_is_saved() {
  const bool says_nothing = graph_alone_ || facts_.model.kind == Kind::kGraphDef;
  // A MetaGraphDef without VariableDefs (export_meta_graph(collection_list=[])) says by its saver, or not at
  // all, which are its variables.
  const bool all = facts_.model.meta().has(meta_field::kObjectGraph) || !any_described(facts_);
  if (says_nothing) {
    tables_count_ = false;
    keeps_ = [this](const StateOf& state) { return fills_tables_ && state.table; };
    return;
  }
  keeps_ = [all, saved = saved_variables_of(facts_)](const StateOf& state) {
    return all || state.table || state.described || saved.contains(index_of(state.node));
  };
}

void Reduction::keep_graph_alone() {
  graph_alone_ = true;
  drop_objects();
}

bool Reduction::keeps(NodeId state) const {
  if (state == kNoNode || !closure_.nodes().has(state)) return false;
  const auto found = facts_.state().find(index_of(state));
  return found != facts_.state().end() && keeps_(found->second);
}

bool Reduction::keeps_variable() const {
  for (const auto& [index, state] : facts_.state()) {
    if (!state.table && keeps(state.node)) return true;
  }
  return false;
}

// State that a saver fills otherwise than a variable with its value: a table, an ensemble of trees.
bool Reduction::keeps_filled_state() const {
  return std::ranges::any_of(facts_.savers().restores, [&](const SaverNode& restore) {
    return std::ranges::any_of(restore.filled,
                               [&](const FilledState& filled) { return keeps(filled.state); });
  });
}

void Reduction::complete() {
  if (!keeps_) keep_what_is_saved();
  facts_.producers();  // savers ask for consumers while they shrink
  size_t done = 0;
  for (size_t before = SIZE_MAX; before != closure_.found().size();) {
    for (; done < closure_.found().size(); ++done) {
      if (!graph_alone_) contexts_.add(closure_.found()[done], [&](NodeId needed) { closure_.want(needed); });
      const auto state = facts_.state().find(index_of(closure_.found()[done]));
      if (state == facts_.state().end() || !keeps_(state->second)) continue;
      for (const NodeId satellite : state->second.satellites) closure_.want(satellite);
    }
    before = closure_.found().size();
    for (const Contexts::Exit& exit : contexts_.exits()) {
      if (!graph_alone_ && closure_.nodes().has(exit.by)) closure_.want(exit.exit);
    }
    // A saver is there for variables and for tables that nothing else fills; others that it saves come along.
    const auto stays = [&](NodeId state) { return keeps(state); };
    if (tables_count_ || keeps_variable()) saver_functions_.complete(stays);
    if (saver_functions_.any() || keeps_variable() || (tables_count_ && keeps_filled_state()))
      savers_.complete(stays, [&](NodeId id) { return saver_functions_.is_call(id); });
  }
  want_captured_constants();
  add_groups();
}

// What the function of a signature captures stays with it: where its call is inlined nobody may read a
// constant any more of which something was folded.
void Reduction::want_captured_constants() {
  if (!objects_) return;
  std::unordered_set<std::string_view> signatures;
  for (const std::string_view bytes : facts_.model.meta().parts_of(meta_field::kSignature)) {
    const MapEntry entry = map_entry(bytes);
    bool stays = true;
    each_needed_name(entry.value, kSignatureDef, [&](const SchemaField&, std::string_view name, int) {
      const NodeId id = facts_.names().find(node_of(name));
      stays = stays && id != kNoNode && closure_.nodes().has(id);
    });
    if (stays) signatures.insert(entry.key);
  }
  for (const NodeId constant : objects_->captured_constants(signatures)) closure_.want(constant);
}

// Groups that run an initializer which stays, themselves or by way of what waits for it, and groups of such
// groups.
void Reduction::add_groups() {
  std::vector<NodeId> members;
  for (const auto& [initializer, owner] : facts_.initializer_owner()) {
    if (keeps(owner) && closure_.nodes().has(NodeId{initializer})) members.push_back(NodeId{initializer});
  }
  while (!members.empty()) {
    const NodeId member = members.back();
    members.pop_back();
    for (const NodeId reader : facts_.consumers().of(member)) {
      if (closure_.nodes().has(reader) || !facts_.only_waits(reader)) continue;
      members.push_back(reader);
      if (!graph_.is(reader, OpKind::kNoOp)) {
        closure_.want(reader);
        continue;
      }
      groups_.add(reader);
      closure_.want_alone(reader);
    }
  }
}

void Reduction::shrink_groups(Changes& changes) {
  for (const NodeId id : groups_.nodes()) {
    std::vector<std::string> inputs;
    bool changed = false;
    each_input(graph_.bytes(id), [&](std::string_view text) {
      const std::optional<TensorRef> tensor = tensor_if_there(facts_.names(), text);
      const bool stays = !tensor || kept().has(tensor->node);
      if (stays) inputs.emplace_back(text);
      changed = changed || !stays;
    });
    if (!changed) continue;
    changes.changed.emplace_back(graph_.name(id), "without what is gone");
    graph_.replace(id, with_inputs(graph_.bytes(id), inputs));
  }
}

void Reduction::shrink_savers(Changes& changes) {
  if (savers_shrunk_) return;
  std::set<std::string, std::less<>> dropped;
  std::set<NodeId> object_graphs;
  savers_.apply(changes, dropped, object_graphs);
  saver_functions_.apply(changes, dropped, object_graphs);
  savers_shrunk_ = true;
  if (dropped.empty()) return;
  // What they save is an object graph that knows no more than they save.
  for (const NodeId id : object_graphs) {
    const auto strings = id == kNoNode ? std::nullopt : string_const(graph_.bytes(id));
    if (!strings || strings->size() != 1 || strings->front().empty()) continue;
    try {
      ObjectGraph saved = parse_object_graph(strings->front());
      drop_keys(saved, dropped);
      graph_.replace(id, with_strings(graph_.bytes(id), {object_graph_bytes(saved)}));
    } catch (const Error& error) {
      changes.warnings.push_back(quoted("node", graph_.name(id)) +
                                 ": saved as the object graph of checkpoints, and is none: " + error.what());
    }
  }
}

void Reduction::apply(Changes& changes) {
  const uint32_t before = kept().size();
  shrink_savers(changes);
  shrink_groups(changes);
  shrink_colocations(graph_, facts_.names(), [&](NodeId id) { return kept().has(id); });

  const auto find = [&](std::string_view name) { return facts_.names().find(node_of(name)); };
  const auto stays = [&](NodeId id) { return id != kNoNode && kept().has(id); };
  std::unordered_set<std::string_view> functions;
  Remaining remaining;
  std::unordered_set<std::string_view> added;  // what the names do not know
  for (uint32_t i = before; i < graph_.size(); ++i) added.insert(graph_.name(NodeId{i}));
  // A node that a cut made a Placeholder has one output left.
  const auto is_cut_off = [&](NodeId id, std::string_view name) {
    return parse_input(name).index() > 0 && is_placeholder_op(node_op(graph_.bytes(id)));
  };
  remaining.node = [&](std::string_view name) {
    const NodeId id = find(name);
    return id == kNoNode ? added.contains(node_of(name)) : stays(id) && !is_cut_off(id, name);
  };
  remaining.variable = [&](std::string_view name) { return keeps(find(name)); };
  remaining.saver = [&](std::string_view def) { return savers_.lives(def); };
  remaining.function = [&](std::string_view name) { return functions.contains(name); };
  MetaGraph& meta = facts_.model.meta();
  Changes of_signatures;
  reduce_signatures(meta, remaining, graph_alone_ ? of_signatures : changes);
  if (objects_) objects_->decide(stays);

  const std::string_view bytes = graph_.part(graph_field::kLibrary);
  const Library library = Library::decode(bytes, facts_.model.arena);
  FunctionReach reach(library);
  for (uint32_t i = 0; i < graph_.size(); ++i) {
    if (i >= before || kept().has(NodeId{i})) reach.calls_of(graph_.bytes(NodeId{i}));
  }
  if (objects_) {
    for (const std::string& name : objects_->functions()) reach.call(name);
  }
  reach.follow();
  for (size_t i = 0; i < library.functions.size(); ++i) {
    if (reach.reached(i)) functions.insert(library.functions[i].name);
  }
  std::string left = reduced_library(library, reach);
  if (left != bytes) graph_.set_part(graph_field::kLibrary, std::move(left));

  reduce_surroundings(meta, remaining);
  if (meta.has(meta_field::kObjectGraph) && !(objects_ && objects_->apply(remaining.function, changes)))
    drop_object_graph(meta);

  for (uint32_t i = 0; i < before; ++i) {
    const NodeId id{i};
    if (kept().has(id) || graph_.removed(id)) continue;
    if (changes.list_removed) {
      const std::string_view node_def = graph_.bytes(id);
      changes.removed.emplace_back(node_name(node_def), node_op(node_def));
    }
    graph_.remove(id);
  }
}

}  // namespace gedit
