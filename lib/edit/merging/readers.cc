// What lies behind the readers of a mapped tensor: shapes that no longer hold, calls, functions of objects.
#include <algorithm>
#include <set>

#include "edit/basis/branches.h"
#include "edit/basis/loops.h"
#include "edit/merging/inputs.h"
#include "ops/kinds.h"

namespace gedit {

void InputMap::find_stale() const {
  std::vector<MergePlace> stack;
  for (const auto& part : parts_) stale_.emplace_back(part->graph().size());
  const auto add = [&](size_t part, NodeId id) {
    if (stale_[part].add(id)) stack.push_back({part, id});
  };
  std::unordered_map<size_t, std::vector<const MergedInput*>> of_value;  // pairs by the VALUE's node
  for (size_t i = 0; i < pairs_.size(); ++i) {
    if (pairs_[i].control) continue;
    of_value[position(pairs_[i].value_node)].push_back(&pairs_[i]);
    if (shapes_[i].same) continue;
    for (const MergedInput::Reader& reader : pairs_[i].readers) add(reader.part, reader.node);
  }
  while (!stack.empty()) {
    const MergePlace at = stack.back();
    stack.pop_back();
    for (const NodeId reader : parts_[at.part]->facts.consumers().of(at.node)) add(at.part, reader);
    const auto mapped = of_value.find(position(at));
    if (mapped == of_value.end()) continue;
    for (const MergedInput* pair : mapped->second) {
      for (const MergedInput::Reader& reader : pair->readers) add(reader.part, reader.node);
    }
  }
}

bool InputMap::stale_shapes(size_t part, NodeId id) const {
  if (stale_.empty()) find_stale();
  return stale_[part].has(id);
}

void InputMap::check_branches() const {
  for (const auto& part : parts_) {
    const Graph& graph = part->graph();
    std::unordered_map<TensorRef, TensorRef, TensorHash> mapped;
    for (const MergedInput& pair : pairs_) {
      const bool same = pair.value_node.part == part->number;
      const TensorRef value = same ? TensorRef{pair.value_node.node, pair.value_index} : kOutsideOfConds;
      for (const MergedInput::Reader& reader : pair.readers) {
        if (reader.part != part->number) continue;
        if (pair.key_node.part == part->number) {
          mapped.emplace(TensorRef{pair.key_node.node, pair.key_index, pair.control}, value);
          break;
        }
        const std::string_view input = input_views(graph.bytes(reader.node))[reader.slot];
        if (const auto key = tensor_if_there(part->facts.names(), input)) mapped.emplace(*key, value);
        break;
      }
    }
    if (mapped.empty()) continue;
    NodeSet merges(graph.size());
    for (uint32_t i = 0; i < graph.size(); ++i) {
      if (graph.is(NodeId{i}, OpKind::kMerge)) merges.add(NodeId{i});
    }
    with_file(part->model, [&] {
      gedit::check_branches(
          part->facts, merges,
          [&](const TensorRef& tensor) -> std::optional<TensorRef> {
            const auto found = mapped.find(tensor);
            return found == mapped.end() ? std::nullopt : std::optional(found->second);
          },
          "map");
    });
  }
}

void InputMap::check_loops() const {
  for (const MergedInput& pair : pairs_) {
    if (pair.readers.empty()) continue;
    const auto& [of_key, key] = pair.key_node;
    const auto& [of_value, value] = pair.value_node;
    gedit::check_loops({parts_[of_key]->facts, key, pair.key}, {parts_[of_value]->facts, value, pair.value},
                       of_key == of_value);
  }
}

void InputMap::note(std::vector<std::string>& notes) const {
  std::set<size_t> noted;
  for (const MergedInput& pair : pairs_) {
    for (const MergedInput::Reader& reader : pair.readers) {
      const Model& model = parts_[reader.part]->model;
      if (!noted.insert(reader.part).second || !model.meta().has(meta_field::kObjectGraph)) continue;
      notes.push_back("tf.saved_model.load calls the functions of " + printable(model.path) +
                      " as they were: the input map holds for sessions; hint: gedit signature add");
    }
  }
}

bool InputMap::inlined(const MergedInput& pair) const {
  const auto is_call = [&](size_t part, NodeId node) {
    const std::string_view node_def = parts_[part]->graph().bytes(node);
    const std::string_view op = node_op(node_def);
    if (is(op, OpKind::kLocalCall)) return true;
    const auto lowered = find_attr(node_def, "_lower_using_switch_merge");
    return lowered && last_varint(*lowered, attr_field::kBool) != 0;
  };
  return is_call(pair.value_node.part, pair.value_node.node) ||
         std::any_of(pair.readers.begin(), pair.readers.end(),
                     [&](const MergedInput::Reader& reader) { return is_call(reader.part, reader.node); });
}

}  // namespace gedit
