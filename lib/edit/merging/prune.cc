#include "edit/merging/prune.h"

#include <unordered_set>

#include "edit/around/map.h"

namespace gedit {
void prune_keys(MergeParts& parts, const MergedNames& names, const InputMap& inputs, const MetaGraph& meta,
                const NewNodes& new_nodes) {
  std::unordered_set<std::string> named;
  each_name_around(meta, [&](const SchemaField& field, std::string_view name, int) {
    if (field.kind == NameKind::kNode) named.emplace(parse_input(name).node);
  });
  for (const std::string& node : new_nodes) {
    each_input(node, [&](std::string_view input) { named.emplace(parse_input(input).node); });
  }
  // How often each node is read in the merged graph, by operand; only of operands that have a KEY.
  std::vector<std::vector<uint32_t>> reads(parts.size());
  const auto count = [&](size_t part, NodeId id, int change) {
    if (!reads[part].empty()) reads[part][index_of(id)] += static_cast<uint32_t>(change);
  };
  std::vector<MergePlace> todo;
  for (const MergedInput& pair : inputs.pairs()) {
    const size_t part = pair.key_node.part;
    if (reads[part].empty()) reads[part].resize(parts[part]->graph().size());
    todo.push_back(pair.key_node);
  }
  // VALUEs by their text; every node that an input of `part` leads to.
  std::unordered_map<std::string, MergePlace> values;
  for (const MergedInput& pair : inputs.pairs()) values[pair.value] = pair.value_node;
  const auto each_source = [&](const MergePart& part, NodeId id, const auto& use) {
    uint32_t slot = 0;
    each_input(part.graph().bytes(id), [&](std::string_view input) {
      if (const std::string* mapped = part.read_now(id, slot++)) {
        if (const auto value = values.find(*mapped); value != values.end()) use(names.written(value->second));
        return;
      }
      const NodeId source = part.facts.names().find(parse_input(input).node);
      if (source != kNoNode) use(names.written({part.number, source}));
    });
  };
  for (const auto& part : parts) {
    // Other operands read these only through the map, or through nodes that are one.
    const bool all = !reads[part->number].empty() || !part->shared().empty();
    if (!all && !part->any_reads_instead()) continue;
    for (uint32_t i = 0; i < part->graph().size(); ++i) {
      if (!part->written(NodeId{i}) || (!all && !part->reads_instead(NodeId{i}))) continue;
      each_source(*part, NodeId{i}, [&](const MergePlace& source) { count(source.part, source.node, 1); });
    }
  }
  while (!todo.empty()) {
    const MergePlace at = todo.back();
    todo.pop_back();
    MergePart& part = *parts[at.part];
    if (!part.written(at.node) || reads[at.part].empty() || reads[at.part][index_of(at.node)] > 0) continue;
    if (named.contains(part.name_of(part.graph().name(at.node)))) continue;
    part.remove(at.node);
    each_source(part, at.node, [&](const MergePlace& source) {
      if (reads[source.part].empty()) return;
      count(source.part, source.node, -1);
      todo.push_back(source);
    });
  }
}

}  // namespace gedit
