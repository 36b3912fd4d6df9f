// The nodes of savers: the kept one's get longer lists, the others' go.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "edit/merging/saver_state.h"
#include "graph/wiring.h"
#include "model/collections.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// `Assign_12` is an `Assign`.
std::string_view without_number(std::string_view name) {
  const size_t underscore = name.find_last_not_of("0123456789");
  const bool numbered = underscore != std::string_view::npos && underscore > 0 && name[underscore] == '_' &&
                        underscore + 1 < name.size();
  return numbered ? name.substr(0, underscore) : name;
}

// One with an earlier operand's, which saves and restores it.
bool is_shared(const MergePart& part, NodeId variable) {
  return variable != kNoNode && part.shared().has(variable);
}

}  // namespace

// The kept saver's operand: keys under their new names in all its savers, and the new entries in the main
// one.
void MergedSavers::rekey_chosen() {
  Values& values = values_[chosen_->number];
  Nodes& nodes = kept_->nodes;
  const NodeId main_save = values.main.saves.front().node, main_restore = values.main.restores.front().node;
  for (SaverNode save : values.all.saves) {
    if (!save.readable()) continue;
    for (SavedTensor& tensor : save.tensors) tensor.key = key_of(*chosen_, tensor.key);
    extend_save(nodes, save, save.node == main_save ? kept_->saved : std::vector<SaverEntry>());
  }
  std::vector<std::string> tensors;
  for (SaverNode restore : values.all.restores) {
    if (restore.names == kNoNode) continue;
    const bool here = restore.node == main_restore;
    const bool one_each =
        here && restores_one_each(values.all, restore, node_op(chosen_->graph().bytes(restore.node)));
    read_v2(nodes, restore);  // the checkpoint that is written is one
    for (SavedTensor& tensor : restore.tensors) tensor.key = key_of(*chosen_, tensor.key);
    const std::vector<std::string> made =
        extend_restore(nodes, restore, here ? kept_->restored : std::vector<SaverEntry>(), one_each);
    if (here) tensors = made;
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Kept::Use& use = kept_->uses[i];
    if (use.part != nullptr) {
      for (const NodeId reader : use.part->facts.consumers().of(use.restore))
        use.part->read_instead(reader, use.tensor, tensors[i]);
      continue;
    }
    const std::string name = names_.free_name(kept_->scope + "Assign");
    nodes.add(assignment(name, use.variable, use.resource, kept_->restored[i].dtype, tensors[i]));
    kept_->ends.push_back(name);
  }
  // The operations that run the restored assignments run the new ones.
  NodeId group = kNoNode;
  for (const SavedTensor& tensor : values.main.restores.front().tensors) {
    if (tensor.between.empty() || group != kNoNode) continue;
    for (const NodeId reader : chosen_->facts.consumers().of(tensor.between.back())) {
      if (is_no_op(node_op(chosen_->graph().bytes(reader)))) group = reader;
    }
  }
  if (group == kNoNode) group = values.def.restore;
  if (group == kNoNode) {
    throw Error(Cause::kRefused, "no operation restores all that its saver holds").in(chosen_->model.path);
  }
  for (const std::string& end : kept_->ends) nodes.run_in(group, end);
  nodes.run_groups();
}

// Nodes that give the values which an operand's Save nodes take, and the scope of these.
std::vector<NodeId> MergedSavers::what_is_saved(const MergePart& part, std::string& scope) const {
  const Graph& graph = part.graph();
  std::vector<NodeId> nodes;
  for (const SaverNode& save : values_[part.number].main.saves) {
    scope = scope_of(graph.name(save.node));
    const std::vector<std::string> inputs = inputs_of(graph.bytes(save.node));
    for (const SavedTensor& tensor : save.tensors) {
      if (tensor.key == kObjectGraphKey) continue;
      nodes.insert(nodes.end(), tensor.between.begin(), tensor.between.end());
      if (tensor.variable != kNoNode) continue;
      const NodeId source =
          part.facts.names().find(parse_input(inputs[save.first_tensor + tensor.slot]).node);
      if (source != kNoNode) nodes.push_back(source);
    }
  }
  return nodes;
}

// What an operand's Save nodes take, by the names in the merged graph.
void MergedSavers::join_saves(const MergePart& part, std::vector<SaverEntry>& entries) const {
  for (const SaverNode& save : values_[part.number].main.saves) {
    NodeHead head;
    head.id = save.node;
    std::vector<std::string> inputs;
    each_input(part.graph().bytes(save.node), [&](std::string_view input) {
      std::string text;
      part.input(head, input, text);
      inputs.push_back(std::move(text));
      ++head.slot;
    });
    for (const SavedTensor& tensor : save.tensors) {
      if (tensor.key == kObjectGraphKey || is_shared(part, tensor.variable)) continue;
      const Tensor& value = value_of(part, tensor.key);
      entries.push_back(
          {key_of(part, tensor.key), tensor.slice, value.dtype, inputs[save.first_tensor + tensor.slot]});
    }
  }
}

// An operand's saver: what it saves and restores, the kept one does.
void MergedSavers::join(MergePart& part) {
  const Values& values = values_[part.number];
  const Graph& graph = part.graph();
  std::string scope;
  std::vector<NodeId> kept = what_is_saved(part, scope);  // nodes of the saver that stay
  std::set<uint32_t> ends;
  NodeSet known(graph.size());  // what assigns: kept, or of a variable that an earlier operand restores
  for (const SaverNode& restore : values.main.restores) {
    scope = scope_of(graph.name(restore.node));
    for (const SavedTensor& tensor : restore.tensors) {
      for (const NodeId id : tensor.between) known.add(id);
      if (is_shared(part, tensor.variable)) continue;
      const Tensor& value = value_of(part, tensor.key);
      kept_->restored.push_back({key_of(part, tensor.key), tensor.slice, value.dtype, ""});
      kept_->uses.push_back(
          {&part, restore.node, tensor_text(graph.name(restore.node), tensor.slot), "", false});
      kept.insert(kept.end(), tensor.between.begin(), tensor.between.end());
      if (!tensor.between.empty()) ends.insert(index_of(tensor.between.back()));
    }
    for (const NodeId reader : part.facts.consumers().of(restore.node)) {
      // A table takes its keys and values from the restore itself.
      if (!part.shared().has(reader) && known.add(reader)) {
        kept.push_back(reader);
        ends.insert(index_of(reader));
      }
    }
  }
  move(part, kept, scope);
  join_saves(part, kept_->saved);
  for (const uint32_t end : ends) kept_->ends.push_back(part.name_of(graph.name(NodeId{end})));
  remove_saver(part, kept, scope);
}

std::string MergedSavers::assignment(const std::string& name, const std::string& variable, bool resource,
                                     DType dtype, const std::string& value) {
  NodeBuilder assign(name, resource ? "AssignVariableOp" : "Assign");
  assign.input(variable).input(value);
  if (resource) return assign.type("dtype", dtype).take();
  std::string yes;
  append_varint_field(yes, attr_field::kBool, 1);
  return assign.type("T", dtype)
      .attr("_class", colocation_value(variable))
      .attr("use_locking", yes)
      .attr("validate_shape", yes)
      .take();
}

// An operand without a saver: its variables are saved under their names.
std::vector<MergedSavers::OwnVariable> MergedSavers::own_variables(
    const MergePart& part, const std::string& scope, const std::function<void(std::string)>& add) {
  const Graph& graph = part.graph();
  std::vector<OwnVariable> found;
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const std::string_view node_def = graph.bytes(NodeId{i});
    if (!is_variable_op(node_op(node_def)) || is_shared(part, NodeId{i})) continue;
    const std::string name(node_name(node_def));
    const Tensor* value = values_[part.number].checkpoint->find(name);
    if (value == nullptr) continue;  // a local one
    const bool resource = is_var_handle_op(node_op(node_def));
    const std::string variable = part.name_of(name);
    SaverEntry entry{key_of(part, name), "", value->dtype, variable};
    if (resource) {
      entry.source = names_.free_name(scope + "Read");
      NodeBuilder read(entry.source, "ReadVariableOp");
      add(read.input(variable).type("dtype", value->dtype).take());
    }
    found.push_back({std::move(entry), variable, resource});
  }
  const std::vector<Tensor>& tensors = values_[part.number].checkpoint->tensors;
  const bool keyed = std::any_of(tensors.begin(), tensors.end(),
                                 [](const Tensor& tensor) { return tensor.name != kObjectGraphKey; });
  if (found.empty() && keyed && graph.tally().variables > 0) {
    throw Error(Cause::kRefused,
                "no saver tells which keys its variables have, and none is a variable's name")
        .in(part.model.path);
  }
  return found;
}

void MergedSavers::join_variables(MergePart& part) {
  for (const OwnVariable& own : own_variables(
           part, kept_->scope, [&](std::string node_def) { kept_->nodes.add(std::move(node_def)); })) {
    kept_->saved.push_back(own.entry);
    kept_->restored.push_back({own.entry.key, "", own.entry.dtype, ""});
    kept_->uses.push_back({nullptr, kNoNode, "", own.variable, own.resource});
  }
}

// The nodes of a saver that stay go into the kept saver's scope.
void MergedSavers::move(MergePart& part, const std::vector<NodeId>& nodes, std::string_view scope) {
  for (const NodeId id : nodes) {
    const std::string_view name = part.graph().name(id);
    if (!name.starts_with(scope) || scope.empty() || part.renamed(name)) continue;
    part.rename(id, names_.free_name(kept_->scope + std::string(without_number(name.substr(scope.size())))));
  }
}

// The operand's savers, one scope after the other. What restores and does not save is no saver, but an
// initializer of tf.train.init_from_checkpoint's; those lie beside the variables, often in no scope.
void MergedSavers::remove_saver(MergePart& part, const std::vector<NodeId>& kept, std::string_view scope) {
  const Graph& graph = part.graph();
  const Values& values = values_[part.number];
  struct Group {
    std::vector<NodeId> nodes;
    bool saves = false;
  };
  std::map<std::string, Group> groups;
  for (const SaverNode& save : values.all.saves) {
    Group& group = groups[scope_of(graph.name(save.node))];
    group.nodes.push_back(save.node);
    group.saves = true;
  }
  for (const SaverNode& restore : values.all.restores) {
    std::vector<NodeId>& nodes = groups[scope_of(graph.name(restore.node))].nodes;
    nodes.push_back(restore.node);
    for (const SavedTensor& tensor : restore.tensors)
      nodes.insert(nodes.end(), tensor.between.begin(), tensor.between.end());
  }
  for (const NodeId id : kept) {
    if (!is_assign_op(node_op(graph.bytes(id)))) continue;
    for (const NodeId reader : part.facts.consumers().of(id)) {
      if (is_no_op(node_op(graph.bytes(reader))) && graph.name(reader).starts_with(scope))
        groups[std::string(scope)].nodes.push_back(reader);
    }
  }
  NodeSet stays(graph.size());
  for (const NodeId id : kept) stays.add(id);
  std::unordered_map<uint32_t, size_t> readers;  // of what savers read: how many stay
  for (const auto& [own_scope, group] : groups) {
    if (own_scope != scope && (!group.saves || own_scope.empty())) continue;
    const NodeId needs = remove_nodes(part, group.nodes, own_scope, stays, readers);
    if (needs != kNoNode)
      warnings_.push_back("the saver of " + printable(part.model.path) + " stays in the graph: '" +
                          printable(graph.name(needs)) + "' needs it");
  }
  for (const NodeId id : part.removed().nodes()) removed_.insert(part.name_of(graph.name(id)));
}

// Everything that only saved and restored: downwards from the nodes, then upwards. Gives what needs one of
// them, in which case nothing goes.
NodeId MergedSavers::remove_nodes(MergePart& part, const std::vector<NodeId>& nodes, std::string_view scope,
                                  const NodeSet& stays, std::unordered_map<uint32_t, size_t>& readers) {
  const Graph& graph = part.graph();
  const Edges &consumers = part.facts.consumers(), &producers = part.facts.producers();
  std::unordered_set<uint32_t> gone;
  std::vector<NodeId> all_gone;
  const auto remove = [&](NodeId id) {
    if (!stays.has(id) && gone.insert(index_of(id)).second) all_gone.push_back(id);
  };
  for (const NodeId id : nodes) remove(id);
  for (size_t i = 0; i < all_gone.size(); ++i) {
    for (const NodeId reader : consumers.of(all_gone[i])) {
      if (graph.name(reader).starts_with(scope)) remove(reader);
    }
  }
  for (const NodeId id : all_gone) {
    for (const NodeId reader : consumers.of(id)) {
      if (!gone.contains(index_of(reader)) && !stays.has(reader) && !part.removed().has(reader))
        return reader;
    }
  }
  // What only they read.
  for (size_t i = 0; i < all_gone.size(); ++i) {
    for (const NodeId source : producers.of(all_gone[i])) {
      const auto [left, fresh] = readers.emplace(index_of(source), 0);
      if (fresh) left->second = consumers.of(source).size();
      --left->second;
      if (left->second > 0 || stays.has(source) || !graph.name(source).starts_with(scope)) continue;
      if (gone.insert(index_of(source)).second) all_gone.push_back(source);
    }
  }
  for (const NodeId id : all_gone) part.remove(id);
  return kNoNode;
}

}  // namespace gedit
