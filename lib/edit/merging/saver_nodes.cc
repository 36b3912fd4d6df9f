// The kept saver gains what the other savers save and restore, under new keys.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "edit/merging/saver_state.h"
#include "graph/wiring.h"
#include "ops/kinds.h"

namespace gedit {

// What a saver beside saver_def's has a key for that the operand's checkpoint has not: it is for another one,
// by which it stays (tf.train.Saver({"key of the pretrained": variable})). Else null.
const SavedTensor* MergedSavers::of_another(const MergePart& part, const SaverNode& saver) const {
  const Savers& main = own_[part.number].main;
  const auto is_it = [&](const SaverNode& one) { return one.node == saver.node; };
  if (std::ranges::any_of(main.saves, is_it) || std::ranges::any_of(main.restores, is_it)) return nullptr;
  for (const SavedTensor& tensor : saver.tensors) {
    if (checkpoint_.of(part)->find(tensor.key) == nullptr) return &tensor;
  }
  return nullptr;
}

// Each saver that stays as it is, once.
void MergedSavers::note_others() {
  for (const auto& part : parts_) {
    if (checkpoint_.of(*part) == nullptr) continue;
    const Own& own = own_[part->number];
    std::set<std::string> told;  // scopes
    for (const auto& savers : {&own.all.saves, &own.all.restores}) {
      for (const SaverNode& saver : *savers) {
        const std::string_view name = part->graph().name(saver.node);
        const SavedTensor* missing = saver.readable() ? of_another(*part, saver) : nullptr;
        if (missing == nullptr || !told.insert(scope_of(name)).second) continue;
        notes_.push_back("saver '" + printable(part->name_of(name)) +
                         "' stays as it is, for a checkpoint with key '" + printable(missing->key) + "'");
      }
    }
  }
}

// The kept saver's operand: keys under their new names in all its savers, and the new entries in the main
// one.
void MergedSavers::rekey_chosen() {
  Own& own = own_[chosen_->number];
  Nodes& nodes = kept_->nodes;
  const NodeId main_save = own.main.saves.front().node, main_restore = own.main.restores.front().node;
  for (SaverNode save : own.all.saves) {
    if (!save.readable() || of_another(*chosen_, save) != nullptr) continue;
    for (SavedTensor& tensor : save.tensors) tensor.key = checkpoint_.key_of(*chosen_, tensor.key);
    extend_save(nodes, save, save.node == main_save ? kept_->saved : std::vector<SaverEntry>());
  }
  std::vector<std::string> tensors;
  for (SaverNode restore : own.all.restores) {
    if (restore.names == kNoNode || of_another(*chosen_, restore) != nullptr) continue;
    const bool here = restore.node == main_restore;
    const bool one_each =
        here && RestoresOneEach(own.all)(restore, node_op(chosen_->graph().bytes(restore.node)));
    read_v2(nodes, restore);  // the checkpoint that is written is one
    for (SavedTensor& tensor : restore.tensors) tensor.key = checkpoint_.key_of(*chosen_, tensor.key);
    const std::vector<std::string> made =
        extend_restore(nodes, restore, here ? kept_->restored : std::vector<SaverEntry>(), one_each);
    if (here) tensors = made;
  }
  std::map<std::pair<MergePart*, NodeId>, ByText<std::string>> restored;  // of each node: its tensors now
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Kept::Use& use = kept_->uses[i];
    if (use.part != nullptr) {
      restored[{use.part, use.restore}].emplace(use.tensor, tensors[i]);
      continue;
    }
    const std::string name = names_.free_name(kept_->scope + "Assign");
    nodes.add(assignment(name, use.variable, use.resource, kept_->restored[i].dtype, tensors[i]));
    kept_->ends.push_back(name);
  }
  for (const auto& [from, now] : restored) {
    const auto& [part, restore] = from;
    const auto readers = part->facts.consumers().of(restore);
    for (const NodeId reader : std::set<NodeId>(readers.begin(), readers.end()))
      part->read_instead(reader, now);
  }
  // The operations that run the restored assignments run the new ones.
  NodeId group = kNoNode;
  for (const SavedTensor& tensor : own.main.restores.front().tensors) {
    if (tensor.between.empty() || group != kNoNode) continue;
    for (const NodeId reader : chosen_->facts.consumers().of(tensor.between.back())) {
      if (is_no_op(node_op(chosen_->graph().bytes(reader)))) group = reader;
    }
  }
  if (group == kNoNode) group = own.def.restore;
  if (group == kNoNode) return run_restores();
  for (const std::string& end : kept_->ends) nodes.run_in(group, end);
  nodes.run_groups();
}

// tf.train.Checkpoint of TensorFlow 1 adds an assignment for each variable, and runs them itself: in the
// merged graph nobody knows of them, so an operation runs all.
void MergedSavers::run_restores() {
  std::set<std::string> ends(kept_->ends.begin(), kept_->ends.end());
  std::set<std::string> known;
  std::string filenames;
  for (const SaverNode& restore : own_[chosen_->number].main.restores) {
    for (const SavedTensor& tensor : restore.tensors) {
      if (!tensor.between.empty())
        ends.insert(chosen_->name_of(chosen_->graph().name(tensor.between.back())));
    }
    for (const FilledState& filled : restore.filled)
      ends.insert(chosen_->name_of(chosen_->graph().name(filled.end)));
    const std::string filename = inputs_of(kept_->nodes.node(restore.node)).front();
    if (known.insert(filename).second)
      filenames += (filenames.empty() ? "'" : ", '") + printable(filename) + "'";
  }
  const std::string name = names_.free_name(kept_->scope + "restore_all");
  NodeBuilder all(name, "NoOp");
  for (const std::string& end : ends) all.input("^" + end);
  kept_->nodes.add(all.take());
  notes_.push_back("'" + printable(name) + "' restores all variables, from the file that " + filenames +
                   (known.size() == 1 ? " names" : " name"));
}

// Nodes that give the values which an operand's Save nodes take, and the scope of these.
std::vector<NodeId> MergedSavers::what_is_saved(const MergePart& part, std::string& scope) const {
  const Graph& graph = part.graph();
  std::vector<NodeId> nodes;
  for (const SaverNode& save : own_[part.number].main.saves) {
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
  for (const SaverNode& save : own_[part.number].main.saves) {
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
      if (tensor.key == kObjectGraphKey || part.shared().has(tensor.variable)) continue;
      const Tensor& value = checkpoint_.value_of(part, tensor.key);
      entries.push_back({checkpoint_.key_of(part, tensor.key), tensor.slice, value.dtype,
                         inputs[save.first_tensor + tensor.slot]});
    }
  }
}

// An operand's saver: what it saves and restores, the kept one does.
void MergedSavers::join(MergePart& part) {
  const Own& own = own_[part.number];
  const Graph& graph = part.graph();
  std::string scope;
  std::vector<NodeId> kept = what_is_saved(part, scope);  // nodes of the saver that stay
  std::set<uint32_t> ends;
  NodeSet known(graph.size());  // what assigns: kept, or of a variable that an earlier operand restores
  for (const SaverNode& restore : own.main.restores) {
    scope = scope_of(graph.name(restore.node));
    for (const SavedTensor& tensor : restore.tensors) {
      for (const NodeId id : tensor.between) known.add(id);
      if (part.shared().has(tensor.variable)) continue;
      const Tensor& value = checkpoint_.value_of(part, tensor.key);
      kept_->restored.push_back({checkpoint_.key_of(part, tensor.key), tensor.slice, value.dtype, ""});
      kept_->uses.push_back(
          {&part, restore.node, tensor_text(graph.name(restore.node), tensor.slot), "", false});
      kept.insert(kept.end(), tensor.between.begin(), tensor.between.end());
      if (!tensor.between.empty()) ends.insert(index_of(tensor.between.back()));
    }
    for (const FilledState& filled : restore.filled) {
      if (!known.add(filled.end)) continue;
      for (const NodeId id : *filled.way) known.add(id);
      if (part.shared().has(filled.end) || part.shared().has(filled.state)) continue;
      kept.insert(kept.end(), filled.way->begin(), filled.way->end());
      kept.push_back(filled.end);
      ends.insert(index_of(filled.end));
    }
    // Whatever else reads what is restored may fill something, as ops of others do.
    for (const NodeId reader : part.facts.consumers().of(restore.node)) {
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
  return assign.type("T", dtype)
      .attr("_class", colocation_value(variable))
      .attr("use_locking", bool_value(true))
      .attr("validate_shape", bool_value(true))
      .take();
}

// An operand without a saver: its variables are saved under their names.
std::vector<MergedSavers::OwnVariable> MergedSavers::own_variables(
    const MergePart& part, const std::string& scope, const std::function<void(std::string)>& add) {
  const Graph& graph = part.graph();
  std::vector<OwnVariable> found;
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const std::string_view node_def = graph.bytes(NodeId{i});
    if (!is_variable_op(node_op(node_def)) || part.shared().has(NodeId{i})) continue;
    const std::string name(node_name(node_def));
    const Tensor* value = checkpoint_.of(part)->find(name);
    if (value == nullptr) continue;  // a local one
    const bool resource = is_var_handle_op(node_op(node_def));
    const std::string variable = part.name_of(name);
    SaverEntry entry{checkpoint_.key_of(part, name), "", value->dtype, variable};
    if (resource) {
      entry.source = names_.free_name(scope + "Read");
      NodeBuilder read(entry.source, "ReadVariableOp");
      add(read.input(variable).type("dtype", value->dtype).take());
    }
    found.push_back({std::move(entry), variable, resource});
  }
  const std::vector<Tensor>& tensors = checkpoint_.of(part)->tensors;
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

}  // namespace gedit
