// Savers that are functions, of TF2 SavedModels: one operation of the main graph saves all, the functions
// restore.
#include <algorithm>
#include <span>

#include "base/error.h"
#include "checkpoint/objects.h"
#include "edit/merging/saver_state.h"
#include "graph/string_const.h"
#include "graph/types.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

std::vector<DType> dtypes_of(const std::vector<SaverEntry>& entries) {
  std::vector<DType> types;
  for (const SaverEntry& entry : entries) types.push_back(entry.dtype);
  return types;
}

}  // namespace

// The functions of a TF2 SavedModel's saver: those that restore do so from other keys, those that save go,
// since all is saved by one operation.
void MergedSavers::take_functions(MergePart& part) {
  Own& own = own_[part.number];
  if (checkpoint_.of(part) == nullptr || !part.model.meta().has(meta_field::kSaver)) return;
  own.functions = find_saver_functions(part.model.meta(), part.facts.names(), part.facts.how_produced());
  if (!own.functions) return;
  for (const SaverFunctions::Save& save : own.functions->saves) part.redefine_function(save.function, "");
  for (const SaverFunctions::Restore& restore : own.functions->restores) {
    if (const std::string* done = part.redefined_function(restore.function);
        done != nullptr && !done->empty())
      continue;
    part.redefine_function(restore.function,
                           with_restored_keys(restore.function_def, [&](const std::string& key) {
                             return checkpoint_.key_of(part, key);
                           }));
    part.keep_function_apart(restore.function);  // other keys
  }
}

// The value of the object graph's key, as an AttrValue.
std::string MergedSavers::objects_value() const { return strings_value({load_object_graph(*merged_)}, true); }

// The Const that an operand's Save node has for the object graph, as the saver of a merged graph does.
NodeId MergedSavers::saved_objects_of(const MergePart& part) const {
  for (const SaverNode& save : own_[part.number].main.saves) {
    for (const SavedTensor& tensor : save.tensors) {
      if (tensor.key != kObjectGraphKey) continue;
      const std::string input = inputs_of(part.graph().bytes(save.node))[save.first_tensor + tensor.slot];
      const NodeId id = part.facts.names().find(parse_input(input).node);
      if (id != kNoNode && is_const_op(node_op(part.graph().bytes(id)))) return id;
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
  const SaverFunctions& saver = *own_[part.number].functions;
  const Edges &producers = part.facts.producers(), &consumers = part.facts.consumers();
  for (const SaverFunctions::Save& save : saver.saves) {
    std::vector<std::string> arguments;
    NodeHead head;
    head.id = save.call;
    each_input(graph.bytes(save.call), [&](std::string_view input) {
      if (!input.starts_with('^')) part.input(head, input, arguments.emplace_back());
      ++head.slot;
    });
    Inliner inliner(
        save.function_def, part.ops, arguments,
        [&](std::string_view name) { return names_.free_name(scope + std::string(name)); },
        [&](std::string node_def) { new_nodes_.push_back(std::move(node_def)); });
    for (const SaverEntry& saved : save.saved) {
      if (saved.key == kObjectGraphKey) continue;
      checkpoint_.value_of(part, saved.key);
      function_entries_.push_back(
          {checkpoint_.key_of(part, saved.key), saved.slice, saved.dtype, inliner.inlined(saved.source)});
    }
    part.remove(save.call);
  }
  NodeSet restores(graph.size());
  for (const SaverFunctions::Restore& restore : saver.restores) {
    restores.add(restore.call);
    function_ends_.push_back(part.name_of(graph.name(restore.call)));
    part.read_instead(restore.call, {{std::string(graph.name(saver.filename)), filename}});
  }
  // What only they need: the operation that runs them all, constants and the file's name.
  const auto all_of = [&](std::span<const NodeId> nodes, const auto& is) {
    return std::all_of(nodes.begin(), nodes.end(), is);
  };
  const auto is_removed = [&](NodeId id) { return part.removed().has(id); };
  const NodeId group = own_[part.number].def.restore;
  if (group != kNoNode && is_no_op(node_op(graph.bytes(group))) && consumers.of(group).empty() &&
      all_of(producers.of(group), [&](NodeId id) { return restores.has(id) || part.removed().has(id); }))
    part.remove(group);
  std::vector<NodeId> sources{saver.filename};
  for (const SaverFunctions::Save& save : saver.saves) {
    const auto read = producers.of(save.call);
    sources.insert(sources.end(), read.begin(), read.end());
  }
  for (const NodeId source : sources) {
    const std::string_view op = node_op(graph.bytes(source));
    if (!is(op, OpKind::kSaverFilename)) continue;
    if (all_of(consumers.of(source), [&](NodeId reader) {
          return is_removed(reader) || (source == saver.filename && restores.has(reader));
        }))
      part.remove(source);
  }
  for (const NodeId id : part.removed().nodes()) removed_.insert(part.name_of(graph.name(id)));
}

// A Const of one string per entry; gives its name.
std::string MergedSavers::add_strings(const std::string& name, const std::vector<SaverEntry>& entries,
                                      std::string SaverEntry::*text) {
  std::vector<std::string> strings;
  for (const SaverEntry& entry : entries) strings.push_back(entry.*text);
  std::string node = names_.free_name(name);
  new_nodes_.push_back(
      NodeBuilder(node, "Const").type("dtype", DType::kString).attr("value", strings_value(strings)).take());
  return node;
}

// Variables of operands that have no saver are read from the file by one operation.
void MergedSavers::restore_variables(const std::vector<OwnVariable>& variables, const std::string& filename) {
  const std::string scope = "saver_restore/";
  std::vector<SaverEntry> entries;
  for (const OwnVariable& own : variables) entries.push_back(own.entry);
  const std::string name = names_.free_name(scope + "RestoreV2");
  const std::string keys = add_strings(scope + "tensor_names", entries, &SaverEntry::key);
  const std::string slices = add_strings(scope + "shape_and_slices", entries, &SaverEntry::slice);
  new_nodes_.push_back(NodeBuilder(name, "RestoreV2")
                           .input(filename)
                           .input(keys)
                           .input(slices)
                           .attr("dtypes", type_list_value(dtypes_of(entries)))
                           .take());
  for (size_t i = 0; i < variables.size(); ++i) {
    const std::string assign = names_.free_name(scope + "Assign");
    new_nodes_.push_back(assignment(assign, variables[i].variable, variables[i].resource, entries[i].dtype,
                                    i == 0 ? name : name + ":" + std::to_string(i)));
    function_ends_.push_back(assign);
  }
}

// A saver for operands that have functions in its place: one operation saves, the calls restore.
void MergedSavers::make_saver() {
  const std::string scope = "saver_save/";
  const std::string filename = names_.free_name("saver_filename");
  std::string shape;
  append_bytes_field(shape, attr_field::kShape, "");
  new_nodes_.push_back(
      NodeBuilder(filename, "Placeholder").type("dtype", DType::kString).attr("shape", shape).take());
  std::vector<OwnVariable> variables;
  for (const auto& part : parts_) {
    const Own& own = own_[part->number];
    if (own.functions) {
      join_saves(*part, function_entries_);
      std::string own_scope;
      const std::vector<NodeId> kept = what_is_saved(*part, own_scope);
      if (!own.main.empty()) remove_saver(*part, kept, own_scope);
      join_functions(*part, filename, scope);
    } else if (checkpoint_.of(*part) != nullptr) {
      for (OwnVariable& own : own_variables(
               *part, scope, [&](std::string node_def) { new_nodes_.push_back(std::move(node_def)); })) {
        function_entries_.push_back(own.entry);
        variables.push_back(std::move(own));
      }
    }
  }
  if (!variables.empty()) restore_variables(variables, filename);
  if (merged_->object_based())
    function_entries_.push_back({std::string(kObjectGraphKey), "", DType::kString, save_objects(scope)});
  const std::string keys = add_strings(scope + "tensor_names", function_entries_, &SaverEntry::key);
  const std::string slices = add_strings(scope + "shape_and_slices", function_entries_, &SaverEntry::slice);
  const std::string save = names_.free_name("saver_save"), done = names_.free_name(scope + "done");
  NodeBuilder saving(save, "SaveV2");
  saving.input(filename).input(keys).input(slices);
  for (const SaverEntry& entry : function_entries_) saving.input(entry.source);
  new_nodes_.push_back(saving.attr("dtypes", type_list_value(dtypes_of(function_entries_))).take());
  new_nodes_.push_back(
      NodeBuilder(done, "Identity").input(filename).input("^" + save).type("T", DType::kString).take());
  const std::string restore = names_.free_name("saver_restore");
  NodeBuilder restoring(restore, "NoOp");
  for (const std::string& end : function_ends_) restoring.input("^" + end);
  new_nodes_.push_back(restoring.take());
  constexpr uint64_t kV2 = 2;
  const std::string file = filename + ":0", saved = done + ":0";
  saver_def_ = saver_def_bytes({file, saved, restore, false, kV2});
}

}  // namespace gedit
