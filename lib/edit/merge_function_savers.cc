// Savers that are functions, of TF2 SavedModels: one operation of the main graph saves all, the functions
// restore.
#include <algorithm>

#include "base/error.h"
#include "checkpoint/objects.h"
#include "edit/merge_saver_state.h"
#include "graph/types.h"

namespace gedit {

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
