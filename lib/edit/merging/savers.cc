#include "edit/merging/savers.h"

#include <algorithm>

#include "base/error.h"
#include "base/first_free.h"
#include "checkpoint/edit.h"
#include "checkpoint/objects.h"
#include "checkpoint/open.h"
#include "checkpoint/values.h"
#include "edit/merging/saver_state.h"
#include "edit/savers/checkpoint_keys.h"
#include "model/collections.h"
#include "model/saver_def.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// The Save and Restore nodes above saver_def's operations; all of them where it does not tell.
Savers main_saver(const MergePart& part, const Savers& all, const std::vector<NodeId>& operations) {
  NodeSet ends(part.graph().size());
  for (const NodeId id : operations) {
    if (id != kNoNode) ends.add(id);
  }
  const NodeSet reached = reach(ends, part.facts.producers(), kAnyDistance);
  Savers main;
  for (const SaverNode& save : all.saves) {
    if (reached.has(save.node)) main.saves.push_back(save);
  }
  for (const SaverNode& restore : all.restores) {
    if (reached.has(restore.node)) main.restores.push_back(restore);
  }
  return main.empty() ? all : main;
}

bool same_value(DataFiles& files, const Tensor& tensor, DataFiles& other_files, const Tensor& other) {
  return tensor.dtype == other.dtype && tensor.shape == other.shape &&
         tensor_bytes(files, tensor).view() == tensor_bytes(other_files, other).view();
}

}  // namespace

MergedSavers::MergedSavers(MergeParts& parts, MergedNames& names, const MergeRequest& request)
    : parts_(parts), names_(names), on_conflict_(request.on_conflict), values_(parts.size()) {
  open(request);
  name_keys();
  std::vector<const Values*> with;
  for (const Values& values : values_) {
    if (values.checkpoint != nullptr) with.push_back(&values);
  }
  as_it_is_ = with.size() == 1 && with.front()->prefix.empty() && with.front()->keys.empty();
  if (as_it_is_) return;
  for (const auto& part : parts_) take_functions(*part);
}

MergedSavers::~MergedSavers() = default;

void MergedSavers::open(const MergeRequest& request) {
  for (const auto& part : parts_) {
    Values& values = values_[part->number];
    // While they still have the names that they have in the file.
    if (const std::string_view def = part->model.meta().part(meta_field::kSaver); !def.empty())
      values.def = saver_def_nodes(def, part->facts.names());
    for (const MergeCheckpoint& checkpoint : request.checkpoints) {
      if (checkpoint.name == part->name) values.path = checkpoint.path;
    }
    values.path = checkpoint_of(part->model, values.path);
    if (values.path.empty()) {
      const uint64_t variables = part->graph().tally().variables;
      if (variables == 0) continue;
      throw refused(std::to_string(variables) + (variables == 1 ? " variable" : " variables") +
                    " and no checkpoint")
          .in(part->model.path)
          .hint("--checkpoint " + (part->name.empty() ? "" : printable(part->name) + "=") + "PREFIX");
    }
    values.initializers = variable_initializers(part->model.meta(), part->facts.names());
    values.checkpoint = std::make_shared<Checkpoint>(open_checkpoint(values.path, &warnings_));
    const std::string name = values.checkpoint->object_based() ? escaped_name(part->name) : part->name;
    values.prefix = name.empty() ? "" : name + "/";
  }
}

// Keys of two operands that would be one.
void MergedSavers::name_keys() {
  std::unordered_map<std::string, std::pair<const MergePart*, const Tensor*>> taken;
  for (const auto& part : parts_) {
    Values& values = values_[part->number];
    if (values.checkpoint == nullptr) continue;
    for (const Tensor& tensor : values.checkpoint->tensors) {
      if (tensor.name == kObjectGraphKey) continue;
      const std::string key = values.prefix + tensor.name;
      const auto [known, fresh] = taken.emplace(key, std::pair(part.get(), &tensor));
      if (fresh) continue;
      const auto& [other, earlier] = known->second;
      if (on_conflict_ == NameConflict::kError) throw already_in(*part, *other, quoted("key", key));
      if (on_conflict_ == NameConflict::kShare) {
        DataFiles files(*values.checkpoint), other_files(*values_[other->number].checkpoint);
        if (!same_value(files, tensor, other_files, *earlier)) {
          throw refused("has another value in " + printable(values_[other->number].path))
              .in(values.path)
              .of(quoted("key", key))
              .hint("--on-conflict uniquify");
        }
        continue;
      }
      std::string unique = first_free(key, [&](const std::string& one) { return taken.contains(one); });
      taken.emplace(unique, std::pair(part.get(), &tensor));
      values.keys.emplace(tensor.name, std::move(unique));
    }
  }
}

std::string MergedSavers::key_of(const MergePart& part, const std::string& key) const {
  const Values& values = values_[part.number];
  const auto found = values.keys.find(key);
  if (key == kObjectGraphKey) return key;
  return found != values.keys.end() ? found->second : values.prefix + key;
}

const Tensor& MergedSavers::value_of(const MergePart& part, const std::string& key) const {
  const Values& values = values_[part.number];
  const Tensor* tensor = values.checkpoint == nullptr ? nullptr : values.checkpoint->find(key);
  if (tensor != nullptr) return *tensor;
  throw refused("key '" + printable(key) + "' is not in checkpoint '" + printable(values.path) + "'")
      .in(part.model.path)
      .of(quoted("variable", key))
      .hint("gedit checkpoint list " + printable(values.path));
}

// The first operand's saver that saver_def names, else the first one that there is.
void MergedSavers::choose() {
  for (const auto& part : parts_) {
    Values& values = values_[part->number];
    if (values.checkpoint == nullptr) continue;
    values.all =
        find_savers(part->graph(), part->facts.names(), part->facts.consumers(), values.initializers);
    values.main = main_saver(*part, values.all, {values.def.save, values.def.restore});
    const auto opaque = [](const auto& node) { return node.names == kNoNode; };
    for (const bool is : {std::any_of(values.main.saves.begin(), values.main.saves.end(), opaque),
                          std::any_of(values.main.restores.begin(), values.main.restores.end(), opaque)}) {
      if (is && !as_it_is_) throw refused("its saver's tensor_names is not a Const").in(part->model.path);
    }
  }
  for (const bool defined : {true, false}) {
    for (const auto& part : parts_) {
      const Savers& main = values_[part->number].main;
      if (chosen_ != nullptr || main.saves.empty() || main.restores.empty()) continue;
      if (!defined || part->model.meta().has(meta_field::kSaver)) chosen_ = part.get();
    }
  }
}

void MergedSavers::decide() {
  merged_ = merge_values();
  choose();
  if (chosen_ != nullptr) {
    const Savers& main = values_[chosen_->number].main;
    for (const SaverNode& save : main.saves) {
      for (const SavedTensor& tensor : save.tensors) value_of(*chosen_, tensor.key);
    }
    for (const SaverNode& restore : main.restores) {
      for (const SavedTensor& tensor : restore.tensors) value_of(*chosen_, tensor.key);
    }
  }
  const bool functions = std::any_of(values_.begin(), values_.end(),
                                     [](const Values& values) { return values.functions.has_value(); });
  if (chosen_ == nullptr && functions) return make_saver();
  const bool saved = std::any_of(parts_.begin(), parts_.end(),
                                 [](const auto& part) { return part->model.meta().has(meta_field::kSaver); });
  const bool reads_v1 =
      chosen_ != nullptr &&
      std::any_of(values_[chosen_->number].all.restores.begin(), values_[chosen_->number].all.restores.end(),
                  [&](const SaverNode& restore) {
                    return !is_restore_v2_op(node_op(chosen_->graph().bytes(restore.node)));
                  });
  if (as_it_is_ && !reads_v1 && (chosen_ != nullptr || saved)) return;
  if (chosen_ == nullptr) {
    if (merged_ != nullptr)
      warnings_.emplace_back(
          "no file has a saver: the checkpoint is written, and nothing in the graph restores it");
    return;
  }
  kept_ = std::make_unique<Kept>(*chosen_, names_);
  const Savers& main = values_[chosen_->number].main;
  kept_->scope = chosen_->name_of(scope_of(chosen_->graph().name(main.restores.front().node)));
  for (const auto& part : parts_) {
    if (part.get() == chosen_ || values_[part->number].checkpoint == nullptr) continue;
    const Values& values = values_[part->number];
    if (!values.main.empty()) join(*part);
    if (values.functions) {
      std::string filename;
      const NodeId restore = main.restores.front().node;
      each_input(chosen_->graph().bytes(restore), [&](std::string_view input) {
        NodeHead head;
        head.id = restore;
        if (filename.empty()) chosen_->input(head, input, filename);
      });
      join_functions(*part, filename, kept_->scope);
    } else if (values.all.empty()) {
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
      const std::string_view name = collection.key == "savers" ? parse_saver_def(item).restore
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

std::shared_ptr<Checkpoint> MergedSavers::merge_values() {
  std::vector<MergeInput> inputs;
  for (const auto& part : parts_) {
    Values& values = values_[part->number];
    if (values.checkpoint == nullptr) continue;
    MergeInput input{part->name, *values.checkpoint};
    for (Tensor& tensor : input.checkpoint.tensors) {
      // The prefix is put before it again.
      if (const auto found = values.keys.find(tensor.name); found != values.keys.end())
        tensor.name = found->second.substr(values.prefix.size());
    }
    sort_tensors(input.checkpoint);
    inputs.push_back(std::move(input));
  }
  if (inputs.empty()) return nullptr;
  return std::make_shared<Checkpoint>(merge_checkpoints(std::move(inputs), OnConflict::kFirst));
}

}  // namespace gedit
