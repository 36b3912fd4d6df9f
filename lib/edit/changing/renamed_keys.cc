#include "edit/changing/renamed_keys.h"

#include <unordered_set>

#include "edit/basis/addresses.h"
#include "graph/names.h"
#include "model/collections.h"
#include "model/savers.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// A part of a partitioned variable has the whole's name as its key, `w` for `w/part_0`; a slot of it that of
// the whole's slot, `w/Adam` for `w/part_0/Adam`.
bool is_key_of(std::string_view name, std::string_view key) {
  constexpr std::string_view kPart = "/part_";
  if (name == key) return true;
  for (size_t at = name.find(kPart); at != std::string_view::npos; at = name.find(kPart, at + 1)) {
    const size_t end = name.find('/', at + 1);
    const std::string_view behind = end == std::string_view::npos ? std::string_view() : name.substr(end);
    if (key.size() == at + behind.size() && key.starts_with(name.substr(0, at)) && key.ends_with(behind))
      return true;
  }
  return false;
}

}  // namespace

KeyMap renamed_keys(Model& model, const RenameRules& rules) {
  constexpr uint32_t kSliceInfo = 4, kFullName = 1;  // VariableDef.save_slice_info_def
  Graph& graph = model.graph();
  graph.decode();
  const Names names(graph);
  const Savers savers = find_savers(graph, names, reversed(producers(graph, names)),
                                    variable_initializers(model.meta(), names));
  KeyMap keys;
  const auto add = [&](const std::string& key, NodeId variable) {
    if (variable == kNoNode) return;
    if (!is_key_of(graph.name(variable), key)) return;
    if (std::string to = rules.apply(key); to != key) keys[key] = std::move(to);
  };
  for (const SaverNode& save : savers.saves) {
    for (const SavedTensor& tensor : save.tensors) add(tensor.key, tensor.variable);
  }
  for (const SaverNode& restore : savers.restores) {
    for (const SavedTensor& tensor : restore.tensors) add(tensor.key, tensor.variable);
  }
  if (savers.empty() && !model.meta().has(meta_field::kObjectGraph)) {
    // Where the graph has no saver, TensorFlow makes one of the variables that collections describe, or of
    // all.
    std::unordered_set<NodeId> parts;
    for (const Collection& collection : collections(model.meta())) {
      if (collection.kind != collection_kind::kBytesList || !holds_variables(collection.key)) continue;
      for (const std::string_view def : collection.items) {
        const std::string_view whole = last_bytes(last_bytes(def, kSliceInfo), kFullName);
        const NodeId part = names.find(node_of(variable_names(def).variable));
        if (whole.empty() || part == kNoNode) continue;
        parts.insert(part);
        add(std::string(whole), part);
      }
    }
    for (uint32_t i = 0; i < graph.size(); ++i) {
      const NodeId id{i};
      if (is_variable_op(node_op(graph.bytes(id))) && !parts.contains(id))
        add(std::string(graph.name(id)), id);
    }
  }
  return keys;
}

}  // namespace gedit
