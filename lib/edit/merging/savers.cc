#include "edit/merging/savers.h"

#include <algorithm>

#include "base/error.h"
#include "edit/merging/saver_state.h"
#include "model/collections.h"
#include "model/saver_def.h"
#include "ops/kinds.h"

namespace gedit {
MergedSavers::MergedSavers(MergeParts& parts, MergedNames& names, const MergeRequest& request)
    : parts_(parts), names_(names), checkpoint_(parts, request.on_conflict, warnings_), own_(parts.size()) {
  for (const auto& part : parts_) {
    Own& own = own_[part->number];
    // While they still have the names that they have in the file.
    if (const std::string_view def = part->model.meta().part(meta_field::kSaver); !def.empty())
      own.def = saver_def_nodes(def, part->facts.names());
    if (checkpoint_.of(*part) != nullptr)
      own.initializers = variable_initializers(part->model.meta(), part->facts.names());
  }
  if (checkpoint_.keeps_keys()) return;
  for (const auto& part : parts_) take_functions(*part);
}

MergedSavers::~MergedSavers() = default;

// The first operand's saver that saver_def names, else the first one that there is.
void MergedSavers::choose() {
  for (const auto& part : parts_) {
    Own& own = own_[part->number];
    if (checkpoint_.of(*part) == nullptr) continue;
    own.all = find_savers(part->graph(), part->facts.names(), part->facts.consumers(), own.initializers);
    own.main = main_savers(part->graph(), part->facts.producers(), own.all, {own.def.save, own.def.restore});
    const auto opaque = [](const auto& node) { return node.names == kNoNode; };
    for (const bool is : {std::any_of(own.main.saves.begin(), own.main.saves.end(), opaque),
                          std::any_of(own.main.restores.begin(), own.main.restores.end(), opaque)}) {
      if (is && !checkpoint_.keeps_keys())
        throw refused("its saver's tensor_names is not a Const").in(part->model.path);
    }
  }
  for (const bool defined : {true, false}) {
    for (const auto& part : parts_) {
      const Savers& main = own_[part->number].main;
      if (chosen_ != nullptr || main.saves.empty() || main.restores.empty()) continue;
      if (!defined || part->model.meta().has(meta_field::kSaver)) chosen_ = part.get();
    }
  }
}

void MergedSavers::decide() {
  merged_ = checkpoint_.merged();
  choose();
  if (chosen_ != nullptr) {
    const Savers& main = own_[chosen_->number].main;
    for (const SaverNode& save : main.saves) {
      for (const SavedTensor& tensor : save.tensors) checkpoint_.value_of(*chosen_, tensor.key);
    }
    for (const SaverNode& restore : main.restores) {
      for (const SavedTensor& tensor : restore.tensors) checkpoint_.value_of(*chosen_, tensor.key);
    }
  }
  const bool functions =
      std::any_of(own_.begin(), own_.end(), [](const Own& own) { return own.functions.has_value(); });
  if (chosen_ == nullptr && functions) return make_saver();
  const bool saved = std::any_of(parts_.begin(), parts_.end(),
                                 [](const auto& part) { return part->model.meta().has(meta_field::kSaver); });
  const bool reads_v1 = chosen_ != nullptr &&
                        std::any_of(own_[chosen_->number].all.restores.begin(),
                                    own_[chosen_->number].all.restores.end(), [&](const SaverNode& restore) {
                                      return !is_restore_v2_op(node_op(chosen_->graph().bytes(restore.node)));
                                    });
  if (checkpoint_.keeps_keys() && !reads_v1 && (chosen_ != nullptr || saved)) return;
  if (chosen_ == nullptr) {
    if (merged_ != nullptr)
      warnings_.emplace_back(
          "no file has a saver: the checkpoint is written, and nothing in the graph restores it");
    return;
  }
  note_others();
  kept_ = std::make_unique<Kept>(*chosen_, names_);
  const Savers& main = own_[chosen_->number].main;
  kept_->scope = chosen_->name_of(scope_of(chosen_->graph().name(main.restores.front().node)));
  for (const auto& part : parts_) {
    if (part.get() == chosen_ || checkpoint_.of(*part) == nullptr) continue;
    const Own& own = own_[part->number];
    if (!own.main.empty()) join(*part);
    if (own.functions) {
      std::string filename;
      const NodeId restore = main.restores.front().node;
      each_input(chosen_->graph().bytes(restore), [&](std::string_view input) {
        NodeHead head;
        head.id = restore;
        if (filename.empty()) chosen_->input(head, input, filename);
      });
      join_functions(*part, filename, kept_->scope);
    } else if (own.all.empty()) {
      join_variables(*part);
    }
  }
  const NodeId objects = saved_objects_of(*chosen_);
  if (objects != kNoNode) {
    kept_->nodes.change(objects, with_attr(kept_->nodes.node(objects), "value", objects_value()));
  } else if (functions && merged_->object_based()) {
    const std::string source = save_objects(kept_->scope);
    function_entries_.push_back({std::string(kObjectGraphKey), "", DType::kString, source});
  }
  kept_->saved.insert(kept_->saved.end(), function_entries_.begin(), function_entries_.end());
  kept_->ends.insert(kept_->ends.end(), function_ends_.begin(), function_ends_.end());
  rekey_chosen();
}

void MergedSavers::mend(MetaGraph& meta) const {
  if (kept_ == nullptr && saver_def_.empty()) return;
  const std::string_view saver_def =
      kept_ == nullptr ? std::string_view(saver_def_) : chosen_->model.meta().part(meta_field::kSaver);
  meta.set_parts(meta_field::kSaver, saver_def.empty() ? std::vector<std::string>()
                                                       : std::vector<std::string>{std::string(saver_def)});
  if (removed_.empty()) return;
  std::vector<std::string> entries;
  for (const Collection& collection : collections(meta)) {
    std::vector<std::string> items;
    for (const std::string_view item : collection.items) {
      const std::string_view name = collection.key == collection_key::kSavers ? parse_saver_def(item).restore
                                    : collection.kind == collection_kind::kNodeList ? item
                                                                                    : std::string_view();
      if (!removed_.contains(std::string(node_of(name)))) items.emplace_back(item);
    }
    if (items.size() == collection.items.size()) {
      entries.emplace_back(collection.entry);
    } else if (!items.empty()) {
      entries.push_back(collection_entry(collection.key, collection.kind, items));
    }
  }
  meta.set_parts(meta_field::kCollection, std::move(entries));
}

NewNodes MergedSavers::nodes() const {
  NewNodes nodes = new_nodes_;
  if (kept_ != nullptr) kept_->nodes.list(nodes);
  return nodes;
}

void MergedSavers::apply(Graph& graph, NewNodes& nodes) {
  if (kept_ != nullptr) kept_->nodes.apply(graph, nodes);
  std::move(new_nodes_.begin(), new_nodes_.end(), std::back_inserter(nodes));
}

}  // namespace gedit
