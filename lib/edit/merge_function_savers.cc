// Savers that are functions, of TF2 SavedModels: one operation of the main graph saves all, the functions
// restore.
#include <algorithm>
#include <span>

#include "base/error.h"
#include "checkpoint/objects.h"
#include "edit/merge_saver_state.h"
#include "graph/types.h"

namespace gedit {

// The functions of a TF2 SavedModel's saver: those that restore do so from other keys, those that save go,
// since all is saved by one operation.
void MergedSavers::take_functions(MergePart& part) {
  Values& values = values_[part.number];
  if (values.checkpoint == nullptr || !part.model.meta().has(meta_field::kSaver)) return;
  values.functions =
      find_function_saver(part.model.meta(), part.facts.names(), part.facts.how_produced(), part.ops);
  if (!values.functions) return;
  for (const FunctionSaver::Save& save : values.functions->saves) part.changed_functions[save.function] = "";
  for (const FunctionSaver::Restore& restore : values.functions->restores) {
    std::string& changed = part.changed_functions[restore.function];
    if (!changed.empty()) continue;
    changed = with_restored_keys(find_function_def(part.graph(), restore.function),
                                 [&](const std::string& key) { return key_of(part, key); });
    part.own_functions.insert(restore.function);  // other keys
  }
}

// The value of the object graph's key, as an AttrValue.
std::string MergedSavers::objects_value() const {
  std::string tensor, value;
  append_varint_field(tensor, 1, static_cast<uint64_t>(DType::kString));
  append_bytes_field(tensor, 2, "");
  append_bytes_field(tensor, 8, load_object_graph(*merged_));
  append_bytes_field(value, attr_field::kTensor, tensor);
  return value;
}

// The Const that an operand's Save node has for the object graph, as the saver of a merged graph does.
NodeId MergedSavers::saved_objects_of(const MergePart& part) const {
  for (const SaveNode& save : values_[part.number].main.saves) {
    for (const SavedTensor& tensor : save.tensors) {
      if (tensor.key != kObjectGraphKey) continue;
      const std::string input = inputs_of(part.graph().bytes(save.node))[save.first_tensor + tensor.slot];
      const NodeId id = part.facts.names().find(parse_input(input).node);
      if (id != kNoNode && node_op(part.graph().bytes(id)) == "Const") return id;
    }
  }
  return kNoNode;
}

std::string MergedSavers::save_objects(const std::string& scope) {
  const std::string name = names_.free_name(scope + "object_graph");
  new_nodes_.push_back(
      NodeBuilder(name, "Const").type("dtype", DType::kString).attr("value", objects_value()).take());
  return name;
}

// What the functions of an operand's saver save is read in the main graph, where one operation saves all; the
// calls that restore stay.
void MergedSavers::join_functions(MergePart& part, const std::string& filename, const std::string& scope) {
  const Graph& graph = part.graph();
  const FunctionSaver& saver = *values_[part.number].functions;
  const Edges &producers = part.facts.producers(), &consumers = part.facts.consumers();
  for (const FunctionSaver::Save& save : saver.saves) {
    std::vector<std::string> arguments;
    NodeHead head;
    head.id = save.call;
    each_input(graph.bytes(save.call), [&](std::string_view input) {
      if (!input.starts_with('^')) part.input(head, input, arguments.emplace_back());
      ++head.slot;
    });
    Inliner inliner(
        find_function_def(graph, save.function), part.ops, arguments,
        [&](std::string_view name) { return names_.free_name(scope + std::string(name)); },
        [&](std::string node_def) { new_nodes_.push_back(std::move(node_def)); });
    for (const FunctionSaver::Saved& saved : save.saved) {
      if (saved.key == kObjectGraphKey) continue;
      value_of(part, saved.key);
      function_entries_.push_back(
          {key_of(part, saved.key), saved.slice, saved.dtype, inliner.inlined(saved.value)});
    }
    part.removed.add(save.call);
  }
  NodeSet restores(graph.size());
  for (const FunctionSaver::Restore& restore : saver.restores) {
    restores.add(restore.call);
    function_ends_.push_back(part.name_of(graph.name(restore.call)));
    part.special.add(restore.call);
  }
  part.replaced[canonical_input(graph.name(saver.filename))] = filename;
  // What only they need: the operation that runs them all, constants and the file's name.
  const auto all_of = [&](std::span<const NodeId> nodes, const auto& is) {
    return std::all_of(nodes.begin(), nodes.end(), is);
  };
  const auto is_removed = [&](NodeId id) { return part.removed.has(id); };
  const NodeId group = values_[part.number].restore_operation;
  if (group != kNoNode && node_op(graph.bytes(group)) == "NoOp" && consumers.of(group).empty() &&
      all_of(producers.of(group), [&](NodeId id) { return restores.has(id) || part.removed.has(id); }))
    part.removed.add(group);
  std::vector<NodeId> sources{saver.filename};
  for (const FunctionSaver::Save& save : saver.saves) {
    const auto read = producers.of(save.call);
    sources.insert(sources.end(), read.begin(), read.end());
  }
  for (const NodeId source : sources) {
    const std::string_view op = node_op(graph.bytes(source));
    if (op != "Const" && op != "Placeholder" && op != "PlaceholderWithDefault") continue;
    if (all_of(consumers.of(source), [&](NodeId reader) {
          return is_removed(reader) || (source == saver.filename && restores.has(reader));
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
      join_saves(*part, function_entries_);
      std::string own_scope;
      const std::vector<NodeId> kept = what_is_saved(*part, own_scope);
      if (!values.main.empty()) remove_saver(*part, kept, own_scope);
      join_functions(*part, filename, scope);
    } else if (values.checkpoint != nullptr && part->graph().tally().variables > 0) {
      throw Error(Cause::kRefused, "has variables and no saver, beside one whose saver is made of functions")
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

}  // namespace gedit
