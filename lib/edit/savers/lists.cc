#include "edit/savers/lists.h"

#include <algorithm>

#include "base/wire.h"
#include "graph/string_const.h"
#include "graph/types.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

std::string without_attr(std::string node_def, std::string_view key) {
  return find_attr(node_def, key) ? with_attr(node_def, key, std::nullopt) : node_def;
}

// Keys and slices, of what is there and then of the entries.
template <typename Tensors>
void collect(const Tensors& tensors, const std::vector<SaverEntry>& entries, std::vector<std::string>& keys,
             std::vector<std::string>& slices) {
  for (const auto& tensor : tensors) {
    keys.push_back(tensor.key);
    slices.push_back(tensor.slice);
  }
  for (const SaverEntry& entry : entries) {
    keys.push_back(entry.key);
    slices.push_back(entry.slice);
  }
}

std::vector<DType> types_of(const std::vector<SaverEntry>& entries) {
  std::vector<DType> types;
  for (const SaverEntry& entry : entries) types.push_back(entry.dtype);
  return types;
}

}  // namespace

std::vector<std::string> SaverLists::inputs_of(NodeId id) const { return gedit::inputs_of(node(id)); }

std::string SaverLists::duplicate(NodeId id, const std::vector<std::string>& inputs, std::string node_def) {
  if (node_def.empty()) node_def = node(id);
  const std::string name = free_name(node_name(node(id)));
  std::string renamed;
  append_bytes_field(renamed, node_field::kName, name);
  const std::string rewired = with_inputs(node_def, inputs);
  for (Fields fields(rewired); fields.next();) {
    if (!fields->bytes(node_field::kName)) renamed += fields->raw;
  }
  add(std::move(renamed));
  return name;
}

bool SaverLists::is_alone(NodeId id, NodeId reader) const {
  const auto readers = consumers().of(id);
  return std::all_of(readers.begin(), readers.end(), [&](NodeId one) { return one == reader; });
}

void SaverLists::read_v2(SaverNode& restore) {
  const std::string node_def = node(restore.node);
  if (is_restore_v2_op(node_op(node_def)) || restore.tensors.size() != 1 ||
      !is_alone(restore.names, restore.node))
    return;
  const auto with_vector = [&](NodeId id, const std::string& text) {
    return without_attr(with_attr(node(id), "value", strings_value({text})), "_output_shapes");
  };
  std::vector<std::string> inputs = inputs_of(restore.node);
  const SavedTensor& tensor = restore.tensors.front();
  change(restore.names, with_vector(restore.names, tensor.key));
  if (restore.slices != kNoNode && is_alone(restore.slices, restore.node)) {
    change(restore.slices, with_vector(restore.slices, tensor.slice));
  } else {
    const std::string slices = free_name(std::string(node_name(node_def)) + "/shape_and_slices");
    add(NodeBuilder(slices, "Const")
            .type("dtype", DType::kString)
            .attr("value", strings_value({tensor.slice}))
            .take());
    if (is(node_op(node_def), OpKind::kTakesSlices)) {
      inputs[2] = slices;
    } else {
      inputs.insert(inputs.begin() + 2, slices);
    }
    restore.slices = kNoNode;
  }
  const DType dtype = type_attr(node_def, "dt").value_or(DType::kInvalid);
  NodeBuilder v2(node_name(node_def), "RestoreV2");
  for (const std::string& input : inputs) v2.input(input);
  v2.device(node_head(node_def).device);
  if (const auto colocated = find_attr(node_def, "_class")) v2.attr("_class", *colocated);
  change(restore.node, v2.attr("dtypes", type_list_value({dtype})).take());
}

// The strings in the Const `id` become these, for the node `reader` alone: where others read the Const, too,
// the reader gets one of its own. Gives what the reader's input is to be.
std::string SaverLists::set_strings(NodeId id, NodeId reader, const std::string& input,
                                    const std::vector<std::string>& strings) {
  std::string node_def = with_strings(node(id), strings);
  if (!is_alone(id, reader)) return duplicate(id, inputs_of(id), std::move(node_def));
  change(id, std::move(node_def));
  return input;
}

void SaverLists::extend_save(const SaverNode& save, const std::vector<SaverEntry>& entries) {
  std::vector<std::string> keys, slices;
  collect(save.tensors, entries, keys, slices);
  if (string_const(node(save.names)) == keys) return;
  std::vector<std::string> inputs = inputs_of(save.node);
  // Control inputs come last.
  const auto control = std::find_if(inputs.begin(), inputs.end(),
                                    [](const std::string& input) { return input.starts_with('^'); });
  std::vector<std::string> controls(control, inputs.end());
  inputs.erase(control, inputs.end());
  for (const SaverEntry& entry : entries) inputs.push_back(entry.source);
  inputs[1] = set_strings(save.names, save.node, inputs[1], keys);
  if (save.slices != kNoNode && !entries.empty())
    inputs[2] = set_strings(save.slices, save.node, inputs[2], slices);
  inputs.insert(inputs.end(), controls.begin(), controls.end());
  std::string node_def = node(save.node);
  if (!entries.empty())
    node_def = with_types(node_def, is_save_v2_op(node_op(node_def)) ? "dtypes" : "T", types_of(entries));
  change(save.node, with_inputs(node_def, inputs));
}

std::vector<std::string> SaverLists::extend_restore(const SaverNode& restore,
                                                    const std::vector<SaverEntry>& entries, bool one_each) {
  std::vector<std::string> tensors;
  const std::vector<SaverEntry> here = one_each ? std::vector<SaverEntry>() : entries;
  std::vector<std::string> keys, slices;
  collect(restore.tensors, here, keys, slices);
  std::string node_def = node(restore.node);
  if (string_const(node(restore.names)) != keys) {
    std::vector<std::string> inputs = inputs_of(restore.node);
    inputs[1] = set_strings(restore.names, restore.node, inputs[1], keys);
    if (restore.slices != kNoNode && !here.empty())
      inputs[2] = set_strings(restore.slices, restore.node, inputs[2], slices);
    if (!here.empty())
      node_def = without_attr(with_types(node_def, "dtypes", types_of(here)), "_output_shapes");
    change(restore.node, with_inputs(node_def, inputs));
  }
  if (one_each) {
    for (const SaverEntry& entry : entries) tensors.push_back(add_restore(restore, entry));
    return tensors;
  }
  const std::string name(node_name(node_def));
  for (size_t i = 0; i < here.size(); ++i) {
    const size_t output = restore.tensors.size() + i;
    tensors.push_back(output == 0 ? name : name + ":" + std::to_string(output));
  }
  return tensors;
}

std::string SaverLists::add_restore(const SaverNode& restore, const SaverEntry& entry) {
  std::vector<std::string> inputs = inputs_of(restore.node);
  inputs[1] =
      duplicate(restore.names, inputs_of(restore.names), with_strings(node(restore.names), {entry.key}));
  if (restore.slices != kNoNode) {
    inputs[2] = duplicate(restore.slices, inputs_of(restore.slices),
                          with_strings(node(restore.slices), {entry.slice}));
  }
  // Its place is beside the variable that the other one restores.
  std::string node_def = without_attr(without_attr(node(restore.node), "_output_shapes"), "_class");
  if (!is_restore_v2_op(node_op(node_def))) {
    node_def = with_attr(node_def, "dt", type_value(entry.dtype));
  } else {
    node_def = with_types(without_attr(std::move(node_def), "dtypes"), "dtypes", {entry.dtype});
  }
  return duplicate(restore.node, inputs, std::move(node_def));
}

void SaverLists::run_groups() {
  for (const auto& [group, gained] : groups_) {
    std::vector<std::string> inputs = inputs_of(NodeId{group});
    inputs.insert(inputs.end(), gained.begin(), gained.end());
    change(NodeId{group}, with_inputs(node(NodeId{group}), inputs));
  }
  groups_.clear();
}

bool restores_one_each(const Savers& savers, const SaverNode& restore, std::string_view restore_op) {
  if (!is_restore_v2_op(restore_op)) return true;
  if (restore.tensors.size() != 1) return false;
  return std::any_of(savers.saves.begin(), savers.saves.end(), [&](const SaverNode& save) {
    return save.tensors.size() > 1 &&
           std::any_of(save.tensors.begin(), save.tensors.end(), [&](const SavedTensor& tensor) {
             return tensor.key == restore.tensors[0].key && tensor.slice == restore.tensors[0].slice;
           });
  });
}

}  // namespace gedit
