#include "edit/merge_savers.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/error.h"
#include "checkpoint/edit.h"
#include "checkpoint/objects.h"
#include "checkpoint/open.h"
#include "checkpoint/values.h"
#include "edit/function_saver.h"
#include "edit/keys.h"
#include "graph/types.h"
#include "model/collections.h"

namespace gedit {
namespace {

Error refused(std::string message) { return Error(Cause::kRefused, std::move(message)); }

std::string scope_of(std::string_view name) {
  const size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? "" : std::string(name.substr(0, slash + 1));
}

// `Assign_12` is an `Assign`.
std::string_view without_number(std::string_view name) {
  const size_t underscore = name.find_last_not_of("0123456789");
  const bool numbered = underscore != std::string_view::npos && underscore > 0 && name[underscore] == '_' &&
                        underscore + 1 < name.size();
  return numbered ? name.substr(0, underscore) : name;
}

// The Save and Restore nodes that belong to saver_def; all of them where it does not tell.
Savers main_saver(const MergePart& part, const Savers& all) {
  const std::string_view saver_def = part.model.meta().part(meta_field::kSaver);
  NodeSet ends(part.graph().size());
  for (const uint32_t field : {2U, 3U}) {  // save_tensor_name, restore_op_name
    const NodeId id = part.facts.names().find(node_of(last_bytes(saver_def, field)));
    if (id != kNoNode) ends.add(id);
  }
  const NodeSet reached = reach(ends, part.facts.producers(), kAnyDistance);
  Savers main;
  for (const SaveNode& save : all.saves) {
    if (reached.has(save.node)) main.saves.push_back(save);
  }
  for (const RestoreNode& restore : all.restores) {
    if (reached.has(restore.node)) main.restores.push_back(restore);
  }
  return main.empty() ? all : main;
}

bool same_value(DataFiles& files, const Tensor& tensor, DataFiles& other_files, const Tensor& other) {
  return tensor.dtype == other.dtype && tensor.shape == other.shape &&
         tensor_bytes(files, tensor).view() == tensor_bytes(other_files, other).view();
}

}  // namespace

// An operand's checkpoint, and what is known of its savers.
struct MergedSavers::Values {
  std::shared_ptr<Checkpoint> checkpoint;  // null where the operand has none
  std::string path;
  std::string prefix;                                 // before every key
  std::unordered_map<std::string, std::string> keys;  // those that become something else
  Savers all, main;
  std::optional<FunctionSaver> functions;  // in place of `main`
};

// Nodes of the saver that is kept, under their new names.
class MergedSavers::Lists final : public SaverLists {
 public:
  Lists(const MergePart& part, MergedNames& names) : part_(part), names_(names) {}

  std::string node(NodeId id) const override {
    const auto found = changed_.find(index_of(id));
    return found != changed_.end() ? found->second : mapped_node(part_.graph().bytes(id), part_, id);
  }
  std::string free_name(std::string_view wanted) override { return names_.free_name(wanted); }
  void add(std::string node_def) override { added_.push_back(std::move(node_def)); }

  void list(NewNodes& nodes) const {
    for (const auto& [id, node_def] : changed_) nodes.push_back(node_def);
    nodes.insert(nodes.end(), added_.begin(), added_.end());
  }

  void apply(Graph& graph, NewNodes& nodes) {
    for (auto& [id, node_def] : changed_) graph.settle(NodeId{part_.base + id}, std::move(node_def));
    std::move(added_.begin(), added_.end(), std::back_inserter(nodes));
  }

 private:
  const Edges& consumers() const override { return part_.facts.consumers(); }
  void change(NodeId id, std::string node_def) override { changed_[index_of(id)] = std::move(node_def); }

  const MergePart& part_;
  MergedNames& names_;
  std::map<uint32_t, std::string> changed_;
  NewNodes added_;
};

// What the kept saver gains.
struct MergedSavers::Kept {
  explicit Kept(const MergePart& part, MergedNames& names) : lists(part, names) {}

  Lists lists;
  std::string scope;  // of its nodes, in the merged graph, with the slash
  std::vector<SaverEntry> saved, restored;
  // What happens with the value of each entry of `restored`: operands' readers are told, or a new assignment
  // is made of it.
  struct Use {
    MergePart* part = nullptr;
    std::string tensor;     // as the operand's readers write it
    std::string variable;   // else: the variable of a new assignment
    bool resource = false;  // it is a handle
  };
  std::vector<Use> uses;
  std::vector<std::string> ends;  // nodes that the restore operation is to run
};

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
      std::string unique;
      for (int number = 1; unique.empty() || taken.contains(unique); ++number)
        unique = key + "_" + std::to_string(number);
      taken.emplace(unique, std::pair(part.get(), &tensor));
      values.keys.emplace(tensor.name, std::move(unique));
    }
  }
}

// The functions of a TF2 SavedModel's saver: the one that restores does so from other keys, the one that
// saves goes, since all is saved by one operation.
void MergedSavers::take_functions(MergePart& part) {
  Values& values = values_[part.number];
  if (values.checkpoint == nullptr || !part.model.meta().has(meta_field::kSaver)) return;
  values.functions = find_function_saver(part.model.meta(), part.facts.names(), part.ops);
  if (!values.functions) return;
  const FunctionSaver& saver = *values.functions;
  part.changed_functions[saver.save_function] = "";
  part.changed_functions[saver.restore_function] = with_restored_keys(
      find_function_def(part.graph(), saver.restore_function),
      [&](const std::string& key) { return key == kObjectGraphKey ? key : key_of(part, key); });
  part.own_functions.insert(saver.restore_function);  // other keys
}

std::string MergedSavers::key_of(const MergePart& part, const std::string& key) const {
  const Values& values = values_[part.number];
  const auto found = values.keys.find(key);
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
    values.all = find_savers(part->graph(), part->facts.names(), part->facts.consumers());
    values.main = main_saver(*part, values.all);
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
    for (const SaveNode& save : main.saves) {
      for (const SavedTensor& tensor : save.tensors) value_of(*chosen_, tensor.key);
    }
    for (const RestoreNode& restore : main.restores) {
      for (const RestoredTensor& tensor : restore.tensors) value_of(*chosen_, tensor.key);
    }
  }
  const bool functions = std::any_of(values_.begin(), values_.end(),
                                     [](const Values& values) { return values.functions.has_value(); });
  if (chosen_ == nullptr && functions) return make_saver();
  const bool saved = std::any_of(parts_.begin(), parts_.end(),
                                 [](const auto& part) { return part->model.meta().has(meta_field::kSaver); });
  if (as_it_is_ && (chosen_ != nullptr || saved)) return;
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
    if (values_[part->number].functions) {
      std::string filename;
      const NodeId restore = main.restores.front().node;
      each_input(chosen_->graph().bytes(restore), [&](std::string_view input) {
        NodeHead head;
        head.id = restore;
        if (filename.empty()) chosen_->input(head, input, filename);
      });
      join_functions(*part, filename, kept_->scope);
    } else if (values_[part->number].all.empty()) {
      join_variables(*part);
    } else {
      join(*part);
    }
  }
  if (functions && merged_->object_based()) {
    const std::string source = save_objects(kept_->scope);
    function_entries_.push_back({std::string(kObjectGraphKey), "", DType::kString, source});
  }
  kept_->saved.insert(kept_->saved.end(), function_entries_.begin(), function_entries_.end());
  kept_->ends.insert(kept_->ends.end(), function_ends_.begin(), function_ends_.end());
  rekey_chosen();
}

// The value of the object graph's key.
std::string MergedSavers::save_objects(const std::string& scope) {
  const std::string name = names_.free_name(scope + "object_graph");
  std::string tensor, value;
  append_varint_field(tensor, 1, static_cast<uint64_t>(DType::kString));
  append_bytes_field(tensor, 2, "");
  append_bytes_field(tensor, 8, load_object_graph(*merged_));
  append_bytes_field(value, attr_field::kTensor, tensor);
  new_nodes_.push_back(NodeBuilder(name, "Const").type("dtype", DType::kString).attr("value", value).take());
  return name;
}

// What the functions of an operand's saver save is read in the main graph, where one operation saves all; the
// call that restores stays.
void MergedSavers::join_functions(MergePart& part, const std::string& filename, const std::string& scope) {
  const Graph& graph = part.graph();
  const FunctionSaver& saver = *values_[part.number].functions;
  std::vector<std::string> arguments;
  NodeHead head;
  head.id = saver.save;
  each_input(graph.bytes(saver.save), [&](std::string_view input) {
    if (!input.starts_with('^')) part.input(head, input, arguments.emplace_back());
    ++head.slot;
  });
  Inliner inliner(
      find_function_def(graph, saver.save_function), part.ops, arguments,
      [&](std::string_view name) { return names_.free_name(scope + std::string(name)); },
      [&](std::string node_def) { new_nodes_.push_back(std::move(node_def)); });
  for (const FunctionSaver::Saved& saved : saver.saved) {
    if (saved.key == kObjectGraphKey) continue;
    value_of(part, saved.key);
    function_entries_.push_back(
        {key_of(part, saved.key), saved.slice, saved.dtype, inliner.inlined(saved.value)});
  }
  function_ends_.push_back(part.name_of(graph.name(saver.restore)));
  part.replaced[canonical_input(graph.name(saver.filename))] = filename;
  part.special.add(saver.restore);
  part.removed.add(saver.save);
  // Constants and the file's name, where nothing else reads them.
  for (const NodeId source : part.facts.producers().of(saver.save)) {
    const std::string_view op = node_op(graph.bytes(source));
    const auto readers = part.facts.consumers().of(source);
    if (op != "Const" && op != "Placeholder") continue;
    if (std::all_of(readers.begin(), readers.end(), [&](NodeId reader) {
          return reader == saver.save || (source == saver.filename && reader == saver.restore);
        }))
      part.removed.add(source);
  }
  for (const NodeId id : part.removed.nodes()) removed_.insert(part.name_of(graph.name(id)));
}

// A saver for operands that have functions in its place: one operation saves, the calls restore.
void MergedSavers::make_saver() {
  const std::string scope = "saver_save/";
  const std::string filename = names_.free_name("saver_filename");
  std::string shape;
  append_bytes_field(shape, attr_field::kShape, "");
  new_nodes_.push_back(
      NodeBuilder(filename, "Placeholder").type("dtype", DType::kString).attr("shape", shape).take());
  for (const auto& part : parts_) {
    const Values& values = values_[part->number];
    if (values.functions) {
      join_functions(*part, filename, scope);
    } else if (values.checkpoint != nullptr && part->graph().tally().variables > 0) {
      throw refused("has variables and no saver, beside one whose saver is made of functions")
          .in(part->model.path);
    }
  }
  if (merged_->object_based())
    function_entries_.push_back({std::string(kObjectGraphKey), "", DType::kString, save_objects(scope)});
  const auto strings = [&](const char* name, const auto& text) {
    std::string tensor, value;
    append_varint_field(tensor, 1, static_cast<uint64_t>(DType::kString));
    append_bytes_field(tensor, 2,
                       shape_proto(std::vector<int64_t>{static_cast<int64_t>(function_entries_.size())}));
    for (const SaverEntry& entry : function_entries_) append_bytes_field(tensor, 8, text(entry));
    append_bytes_field(value, attr_field::kTensor, tensor);
    std::string node = names_.free_name(scope + name);
    new_nodes_.push_back(
        NodeBuilder(node, "Const").type("dtype", DType::kString).attr("value", value).take());
    return node;
  };
  const std::string keys = strings("tensor_names", [](const SaverEntry& entry) { return entry.key; });
  const std::string slices = strings("shape_and_slices", [](const SaverEntry& entry) { return entry.slice; });
  const std::string save = names_.free_name("saver_save"), done = names_.free_name(scope + "done");
  NodeBuilder saving(save, "SaveV2");
  saving.input(filename).input(keys).input(slices);
  std::string types, list, value;
  for (const SaverEntry& entry : function_entries_) {
    saving.input(entry.source);
    append_varint(types, static_cast<uint64_t>(static_cast<int32_t>(entry.dtype)));
  }
  append_bytes_field(list, attr_field::kType, types);
  append_bytes_field(value, attr_field::kList, list);
  new_nodes_.push_back(saving.attr("dtypes", value).take());
  new_nodes_.push_back(
      NodeBuilder(done, "Identity").input(filename).input("^" + save).type("T", DType::kString).take());
  const std::string restore = names_.free_name("saver_restore");
  NodeBuilder restoring(restore, "NoOp");
  for (const std::string& end : function_ends_) restoring.input("^" + end);
  new_nodes_.push_back(restoring.take());
  constexpr uint64_t kV2 = 2;
  append_bytes_field(saver_def_, 1, filename + ":0");
  append_bytes_field(saver_def_, 2, done + ":0");
  append_bytes_field(saver_def_, 3, restore);
  append_varint_field(saver_def_, 7, kV2);
}

// The kept saver's operand: keys under their new names in all its savers, and the new entries in the main
// one.
void MergedSavers::rekey_chosen() {
  Values& values = values_[chosen_->number];
  Lists& lists = kept_->lists;
  const NodeId main_save = values.main.saves.front().node, main_restore = values.main.restores.front().node;
  for (SaveNode save : values.all.saves) {
    if (!save.readable()) continue;
    for (SavedTensor& tensor : save.tensors) tensor.key = key_of(*chosen_, tensor.key);
    lists.extend(save, save.node == main_save ? kept_->saved : std::vector<SaverEntry>());
  }
  std::vector<std::string> tensors;
  for (RestoreNode restore : values.all.restores) {
    if (restore.names == kNoNode) continue;
    const bool one_each =
        restores_one_each(values.all, restore, node_op(chosen_->graph().bytes(restore.node)));
    for (RestoredTensor& tensor : restore.tensors) tensor.key = key_of(*chosen_, tensor.key);
    const bool here = restore.node == main_restore;
    const std::vector<std::string> made =
        lists.extend(restore, here ? kept_->restored : std::vector<SaverEntry>(), here && one_each);
    if (here) tensors = made;
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Kept::Use& use = kept_->uses[i];
    if (use.part != nullptr) {
      use.part->replaced[use.tensor] = tensors[i];
      continue;
    }
    const std::string name = names_.free_name(kept_->scope + "Assign");
    NodeBuilder assign(name, use.resource ? "AssignVariableOp" : "Assign");
    assign.input(use.variable).input(tensors[i]);
    if (use.resource) {
      assign.type("dtype", kept_->restored[i].dtype);
    } else {
      std::string yes;
      append_varint_field(yes, attr_field::kBool, 1);
      assign.type("T", kept_->restored[i].dtype)
          .attr("_class", string_list_value({"loc:@" + use.variable}))
          .attr("use_locking", yes)
          .attr("validate_shape", yes);
    }
    lists.add(assign.take());
    kept_->ends.push_back(name);
  }
  // The operations that run the restored assignments run the new ones.
  NodeId group = kNoNode;
  for (const RestoredTensor& tensor : values.main.restores.front().tensors) {
    if (tensor.between.empty() || group != kNoNode) continue;
    for (const NodeId reader : chosen_->facts.consumers().of(tensor.between.back())) {
      if (node_op(chosen_->graph().bytes(reader)) == "NoOp") group = reader;
    }
  }
  if (group == kNoNode) {
    group =
        chosen_->facts.names().find(node_of(last_bytes(chosen_->model.meta().part(meta_field::kSaver), 3)));
  }
  if (group == kNoNode) {
    throw refused("no operation restores all that its saver holds").in(chosen_->model.path);
  }
  for (const std::string& end : kept_->ends) lists.run_in(group, end);
  lists.run_groups();
}

// An operand's saver: what it saves and restores, the kept one does.
void MergedSavers::join(MergePart& part) {
  const Values& values = values_[part.number];
  const Graph& graph = part.graph();
  std::vector<NodeId> kept;  // nodes of the saver that stay
  std::string scope;
  for (const SaveNode& save : values.main.saves) {
    scope = scope_of(graph.name(save.node));
    std::vector<std::string_view> inputs;
    each_input(graph.bytes(save.node), [&](std::string_view input) { inputs.push_back(input); });
    for (const SavedTensor& tensor : save.tensors)
      kept.insert(kept.end(), tensor.between.begin(), tensor.between.end());
  }
  std::set<uint32_t> ends;
  for (const RestoreNode& restore : values.main.restores) {
    scope = scope_of(graph.name(restore.node));
    for (const RestoredTensor& tensor : restore.tensors) {
      const Tensor& value = value_of(part, tensor.key);
      kept_->restored.push_back({key_of(part, tensor.key), tensor.slice, value.dtype, ""});
      kept_->uses.push_back({&part, tensor_text(graph.name(restore.node), tensor.output), "", false});
      kept.insert(kept.end(), tensor.between.begin(), tensor.between.end());
      if (!tensor.between.empty()) ends.insert(index_of(tensor.between.back()));
    }
    for (const NodeId reader : part.facts.consumers().of(restore.node)) {
      part.special.add(reader);
      // A table takes its keys and values from the restore itself.
      if (std::find(kept.begin(), kept.end(), reader) == kept.end()) {
        kept.push_back(reader);
        ends.insert(index_of(reader));
      }
    }
  }
  move(part, kept, scope);
  for (const SaveNode& save : values.main.saves) {
    NodeHead head;
    head.id = save.node;
    std::vector<std::string> inputs;
    each_input(graph.bytes(save.node), [&](std::string_view input) {
      std::string text;
      part.input(head, input, text);
      inputs.push_back(std::move(text));
      ++head.slot;
    });
    for (const SavedTensor& tensor : save.tensors) {
      const Tensor& value = value_of(part, tensor.key);
      kept_->saved.push_back(
          {key_of(part, tensor.key), tensor.slice, value.dtype, inputs[save.first_tensor + tensor.slot]});
    }
  }
  for (const uint32_t end : ends) kept_->ends.push_back(part.name_of(graph.name(NodeId{end})));
  remove_saver(part, kept, scope);
}

// An operand without a saver: its variables are saved under their names.
void MergedSavers::join_variables(MergePart& part) {
  const Graph& graph = part.graph();
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const std::string_view node_def = graph.bytes(NodeId{i});
    if (!is_variable_op(node_op(node_def))) continue;
    const std::string key(node_name(node_def));
    const Tensor* value = values_[part.number].checkpoint->find(key);
    if (value == nullptr) continue;  // a local one
    const bool resource = node_op(node_def) == "VarHandleOp";
    const std::string variable = part.name_of(key);
    std::string source = variable;
    if (resource) {
      source = names_.free_name(kept_->scope + "Read");
      NodeBuilder read(source, "ReadVariableOp");
      kept_->lists.add(read.input(variable).type("dtype", value->dtype).take());
    }
    kept_->saved.push_back({key_of(part, key), "", value->dtype, source});
    kept_->restored.push_back({key_of(part, key), "", value->dtype, ""});
    kept_->uses.push_back({nullptr, "", variable, resource});
  }
}

// The nodes of a saver that stay go into the kept saver's scope.
void MergedSavers::move(MergePart& part, const std::vector<NodeId>& nodes, std::string_view scope) {
  for (const NodeId id : nodes) {
    const std::string_view name = part.graph().name(id);
    if (!name.starts_with(scope) || scope.empty() || part.renamed.contains(name)) continue;
    part.renamed[name] =
        names_.free_name(kept_->scope + std::string(without_number(name.substr(scope.size()))));
    part.special.add(id);
    for (const NodeId reader : part.facts.consumers().of(id)) part.special.add(reader);
  }
}

// Everything that only saved and restored: downwards from the Save nodes and the assignments, then upwards.
void MergedSavers::remove_saver(MergePart& part, const std::vector<NodeId>& kept, std::string_view scope) {
  const Graph& graph = part.graph();
  const Edges &consumers = part.facts.consumers(), &producers = part.facts.producers();
  NodeSet stays(graph.size()), gone(graph.size());
  for (const NodeId id : kept) stays.add(id);
  std::vector<NodeId> stack;
  const auto remove = [&](NodeId id) {
    if (!stays.has(id) && gone.add(id)) stack.push_back(id);
  };
  const Savers& all = values_[part.number].all;
  for (const SaveNode& save : all.saves) remove(save.node);
  for (const RestoreNode& restore : all.restores) remove(restore.node);
  for (const NodeId id : kept) {
    if (!is_assign_op(node_op(graph.bytes(id)))) continue;
    for (const NodeId reader : consumers.of(id)) {
      if (node_op(graph.bytes(reader)) == "NoOp" && graph.name(reader).starts_with(scope)) remove(reader);
    }
  }
  std::vector<NodeId> all_gone;
  while (!stack.empty()) {
    const NodeId id = stack.back();
    stack.pop_back();
    all_gone.push_back(id);
    for (const NodeId reader : consumers.of(id)) {
      if (graph.name(reader).starts_with(scope)) remove(reader);
    }
  }
  for (const NodeId id : all_gone) {
    for (const NodeId reader : consumers.of(id)) {
      if (gone.has(reader) || stays.has(reader)) continue;
      warnings_.push_back("the saver of " + printable(part.model.path) + " stays in the graph: '" +
                          printable(graph.name(reader)) + "' needs it");
      return;
    }
  }
  // What only they read.
  std::unordered_map<uint32_t, size_t> left;  // readers that stay
  for (size_t i = 0; i < all_gone.size(); ++i) {
    for (const NodeId source : producers.of(all_gone[i])) {
      const auto [found, fresh] = left.emplace(index_of(source), 0);
      if (fresh) found->second = consumers.of(source).size();
      --found->second;
      if (found->second > 0 || stays.has(source) || !graph.name(source).starts_with(scope)) continue;
      if (gone.add(source)) all_gone.push_back(source);
    }
  }
  for (const NodeId id : all_gone) {
    part.removed.add(id);
    removed_.insert(part.name_of(graph.name(id)));
  }
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
      const std::string_view name = collection.key == "savers"                      ? last_bytes(item, 3)
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
  meta.set_parts(meta_field::kCollection, entries);
}

NewNodes MergedSavers::nodes() const {
  NewNodes nodes = new_nodes_;
  if (kept_ != nullptr) kept_->lists.list(nodes);
  return nodes;
}

void MergedSavers::apply(Graph& graph, NewNodes& nodes) {
  if (kept_ != nullptr) kept_->lists.apply(graph, nodes);
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
