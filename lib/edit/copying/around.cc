#include "edit/copying/around.h"

#include <map>
#include <unordered_set>

#include "ops/kinds.h"

namespace gedit {
void extend_collections(const Facts& facts, const CopyMapping& mapping, CopyChanges& result) {
  const NamesOfCopies names(facts, mapping);
  for (const std::string& key : extend_collections(facts.model.meta(), facts.collections(), names))
    result.changed.emplace_back("collection " + key, "extended");
}

void extend_init_groups(const Facts& facts, const CopyMapping& mapping, CopyChanges& result) {
  Graph& graph = facts.model.graph();
  std::unordered_set<uint32_t> in_savers;
  for (const SaverNode& restore : facts.savers().restores) {
    for (const SavedTensor& tensor : restore.tensors) {
      for (const NodeId id : tensor.between) {
        for (const NodeId reader : facts.consumers().of(id)) in_savers.insert(index_of(reader));
      }
    }
  }
  std::map<uint32_t, std::vector<std::string>> groups;
  for (const auto& [index, owner] : facts.initializer_owner()) {
    const NodeId initializer{index};
    if (!mapping.copied(initializer) || !mapping.copied(owner)) continue;
    for (const NodeId reader : facts.consumers().of(initializer)) {
      if (is_no_op(node_op(graph.bytes(reader))) && !in_savers.contains(index_of(reader)))
        groups[index_of(reader)];
    }
  }
  for (auto& [index, gained] : groups) {
    std::vector<std::string> inputs;
    std::unordered_set<std::string> known;
    each_input(graph.bytes(NodeId{index}), [&](std::string_view input) {
      inputs.emplace_back(input);
      known.emplace(input);
    });
    const size_t before = inputs.size();
    for (size_t i = 0; i < before; ++i) {
      const Input input = parse_input(inputs[i]);
      const NodeId initializer = facts.names().find(input.node);
      if (!input.control || initializer == kNoNode || !mapping.copied(initializer)) continue;
      if (!facts.initializer_owner().contains(index_of(initializer))) continue;
      const std::string copy = "^" + mapping.scope().of(input.node);
      if (known.insert(copy).second) inputs.push_back(copy);
    }
    if (inputs.size() == before) continue;
    result.changed.emplace_back(graph.name(NodeId{index}), "extended");
    graph.replace(NodeId{index}, with_inputs(graph.bytes(NodeId{index}), inputs));
  }
}

}  // namespace gedit
