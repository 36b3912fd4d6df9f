#include "edit/savers/entries.h"

#include <algorithm>
#include <set>

#include "base/wire.h"
#include "graph/string_const.h"
#include "graph/types.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// Keys and slices, of what is there and then of the entries.
void collect(const std::vector<SavedTensor>& tensors, const std::vector<SaverEntry>& entries,
             std::vector<std::string>& keys, std::vector<std::string>& slices) {
  for (const SavedTensor& tensor : tensors) {
    keys.push_back(tensor.key);
    slices.push_back(tensor.slice);
  }
  for (const SaverEntry& entry : entries) {
    keys.push_back(entry.key);
    slices.push_back(entry.slice);
  }
}

// The attribute with the dtypes of a node that saves or restores a list of tensors.
std::string_view types_key(std::string_view node_def) {
  return is_save_v2_op(node_op(node_def)) || is_restore_v2_op(node_op(node_def)) ? "dtypes" : "T";
}

std::vector<DType> types_of(const std::vector<SaverEntry>& entries) {
  std::vector<DType> types;
  for (const SaverEntry& entry : entries) types.push_back(entry.dtype);
  return types;
}

std::string add_restore(SaverNodes& nodes, const SaverNode& restore, const SaverEntry& entry) {
  std::vector<std::string> inputs = nodes.inputs_of(restore.node);
  inputs[1] = nodes.duplicate(restore.names, nodes.inputs_of(restore.names),
                              with_strings(nodes.node(restore.names), {entry.key}));
  if (restore.slices != kNoNode) {
    inputs[2] = nodes.duplicate(restore.slices, nodes.inputs_of(restore.slices),
                                with_strings(nodes.node(restore.slices), {entry.slice}));
  }
  // Its place is beside the variable that the other one restores.
  std::string node_def = without_attr(without_attr(nodes.node(restore.node), "_output_shapes"), "_class");
  if (!is_restore_v2_op(node_op(node_def))) {
    node_def = with_attr(node_def, "dt", type_value(entry.dtype));
  } else {
    node_def = with_types(without_attr(std::move(node_def), "dtypes"), "dtypes", std::vector{entry.dtype});
  }
  return nodes.duplicate(restore.node, inputs, std::move(node_def));
}

}  // namespace

void read_v2(SaverNodes& nodes, SaverNode& restore) {
  const std::string node_def = nodes.node(restore.node);
  if (is_restore_v2_op(node_op(node_def)) || restore.tensors.size() != 1 ||
      !nodes.is_alone(restore.names, restore.node))
    return;
  const auto with_vector = [&](NodeId id, const std::string& text) {
    return without_attr(with_attr(nodes.node(id), "value", strings_value({text})), "_output_shapes");
  };
  std::vector<std::string> inputs = nodes.inputs_of(restore.node);
  const SavedTensor& tensor = restore.tensors.front();
  nodes.change(restore.names, with_vector(restore.names, tensor.key));
  if (restore.slices != kNoNode && nodes.is_alone(restore.slices, restore.node)) {
    nodes.change(restore.slices, with_vector(restore.slices, tensor.slice));
  } else {
    const std::string slices = nodes.free_name(std::string(node_name(node_def)) + "/shape_and_slices");
    nodes.add(NodeBuilder(slices, "Const")
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
  nodes.change(restore.node, v2.attr("dtypes", type_list_value({dtype})).take());
}

void extend_save(SaverNodes& nodes, const SaverNode& save, const std::vector<SaverEntry>& entries) {
  std::vector<std::string> keys, slices;
  collect(save.tensors, entries, keys, slices);
  if (string_const(nodes.node(save.names)) == keys) return;
  std::vector<std::string> inputs = nodes.inputs_of(save.node);
  // Control inputs come last.
  const auto control = std::find_if(inputs.begin(), inputs.end(),
                                    [](const std::string& input) { return input.starts_with('^'); });
  std::vector<std::string> controls(control, inputs.end());
  inputs.erase(control, inputs.end());
  for (const SaverEntry& entry : entries) inputs.push_back(entry.source);
  inputs[1] = nodes.set_strings(save.names, save.node, inputs[1], keys);
  if (save.slices != kNoNode && !entries.empty())
    inputs[2] = nodes.set_strings(save.slices, save.node, inputs[2], slices);
  inputs.insert(inputs.end(), controls.begin(), controls.end());
  std::string node_def = nodes.node(save.node);
  if (!entries.empty()) node_def = with_types(node_def, types_key(node_def), types_of(entries));
  nodes.change(save.node, with_inputs(node_def, inputs));
}

std::vector<std::string> extend_restore(SaverNodes& nodes, const SaverNode& restore,
                                        const std::vector<SaverEntry>& entries, bool one_each) {
  std::vector<std::string> tensors;
  const std::vector<SaverEntry> here = one_each ? std::vector<SaverEntry>() : entries;
  std::vector<std::string> keys, slices;
  collect(restore.tensors, here, keys, slices);
  std::string node_def = nodes.node(restore.node);
  if (string_const(nodes.node(restore.names)) != keys) {
    std::vector<std::string> inputs = nodes.inputs_of(restore.node);
    inputs[1] = nodes.set_strings(restore.names, restore.node, inputs[1], keys);
    if (restore.slices != kNoNode && !here.empty())
      inputs[2] = nodes.set_strings(restore.slices, restore.node, inputs[2], slices);
    if (!here.empty())
      node_def = without_attr(with_types(node_def, "dtypes", types_of(here)), "_output_shapes");
    nodes.change(restore.node, with_inputs(node_def, inputs));
  }
  if (one_each) {
    for (const SaverEntry& entry : entries) tensors.push_back(add_restore(nodes, restore, entry));
    return tensors;
  }
  const std::string name(node_name(node_def));
  for (size_t i = 0; i < here.size(); ++i) {
    const size_t output = restore.tensors.size() + i;
    tensors.push_back(output == 0 ? name : name + ":" + std::to_string(output));
  }
  return tensors;
}

std::vector<DType> saver_types(std::string_view node_def) {
  const std::string_view op = node_op(node_def);
  if (!is_restore_op(op) || is_restore_v2_op(op))
    return type_list(find_attr(node_def, types_key(node_def)).value_or(""));
  const auto type = type_attr(node_def, "dt");
  return type ? std::vector{*type} : std::vector<DType>();
}

size_t count_tensors(std::string_view node_def) {
  return type_list(find_attr(node_def, types_key(node_def)).value_or("")).size();
}

std::string keep_tensors(SaverNodes& nodes, const SaverNode& saver, const std::vector<uint32_t>& positions,
                         std::vector<std::string> inputs) {
  const auto kept_of = [&](const auto& all) {
    std::decay_t<decltype(all)> kept;
    for (const uint32_t position : positions) {
      if (position < all.size()) kept.push_back(all[position]);
    }
    return kept;
  };
  const auto keep_strings = [&](NodeId id, std::string& input) {
    const auto all = id == kNoNode ? std::nullopt : string_const(nodes.node(id));
    if (!all) return;
    const std::vector<std::string> kept = kept_of(*all);
    if (kept != *all) input = nodes.set_strings(id, saver.node, input, kept);
  };
  keep_strings(saver.names, inputs[1]);
  keep_strings(saver.slices, inputs[2]);
  const std::string node_def = nodes.node(saver.node);
  const std::string_view key = types_key(node_def);
  const std::string types = type_list_value(kept_of(type_list(find_attr(node_def, key).value_or(""))));
  return without_attr(with_attr(with_inputs(node_def, inputs), key, types), "_output_shapes");
}

void rekey(Graph& graph, const std::vector<SaverNode>& savers,
           const std::function<std::string(const std::string&)>& key) {
  std::set<NodeId> done{kNoNode};  // a Const may serve several
  for (const SaverNode& saver : savers) {
    if (!done.insert(saver.names).second) continue;
    const auto before = string_const(graph.bytes(saver.names));
    if (!before) continue;
    std::vector<std::string> after;
    std::transform(before->begin(), before->end(), std::back_inserter(after), key);
    if (after != *before) graph.replace(saver.names, with_strings(graph.bytes(saver.names), after));
  }
}

RestoresOneEach::RestoresOneEach(const Savers& savers) {
  for (const SaverNode& save : savers.saves) {
    if (save.tensors.size() < 2) continue;
    for (const SavedTensor& tensor : save.tensors) saved_among_several_.emplace(tensor.key, tensor.slice);
  }
}

bool RestoresOneEach::operator()(const SaverNode& restore, std::string_view restore_op) const {
  if (!is_restore_v2_op(restore_op)) return true;
  return restore.tensors.size() == 1 &&
         saved_among_several_.contains({restore.tensors[0].key, restore.tensors[0].slice});
}

}  // namespace gedit
