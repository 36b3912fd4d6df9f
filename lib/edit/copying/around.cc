#include "edit/copying/around.h"

#include <map>
#include <set>
#include <unordered_set>

#include "edit/basis/unfilled.h"
#include "ops/kinds.h"

namespace gedit {

void extend_collections(const Facts& facts, const CopyMapping& mapping, CopyChanges& result) {
  const NamesOfCopies names(facts, mapping);
  for (const std::string& key : extend_collections(facts.model.meta(), facts.collections(), names))
    result.changed.emplace_back("collection " + key, "extended");
}

namespace {

// With what they fill: variables, tables, and iterators, which are no state.
std::vector<NodeId> copied_initializers(const Facts& facts, const CopyMapping& mapping) {
  const Graph& graph = facts.graph();
  std::vector<NodeId> initializers;
  for (const auto& [index, owner] : facts.initializer_owner()) {
    if (mapping.copied(NodeId{index}) && mapping.copied(owner)) initializers.push_back(NodeId{index});
  }
  if (!graph.has_any(OpKind::kIterator)) return initializers;
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const NodeId id{i};
    if (graph.removed(id) || !graph.is(id, OpKind::kIterator) || !mapping.copied(id)) continue;
    for (const NodeId filler : fillers_of(facts, id)) {
      if (mapping.copied(filler)) initializers.push_back(filler);
    }
  }
  return initializers;
}

}  // namespace

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
  std::map<uint32_t, std::set<NodeId>> groups;  // and initializers that they run
  for (const NodeId initializer : copied_initializers(facts, mapping)) {
    std::vector<NodeId> open{initializer};
    std::unordered_set<uint32_t> seen;
    while (!open.empty()) {
      const NodeId at = open.back();
      open.pop_back();
      for (const NodeId reader : facts.consumers().of(at)) {
        if (in_savers.contains(index_of(reader)) || !facts.only_waits(reader)) continue;
        if (graph.is(reader, OpKind::kNoOp)) {
          groups[index_of(reader)].insert(initializer);
        } else if (seen.insert(index_of(reader)).second) {
          open.push_back(reader);
        }
      }
    }
  }
  for (auto& [index, initializers] : groups) {
    std::vector<std::string> inputs = inputs_of(graph.bytes(NodeId{index}));
    const std::unordered_set<std::string> known(inputs.begin(), inputs.end());
    const size_t before = inputs.size();
    const auto run_copy = [&](NodeId initializer) {
      std::string copy = "^" + mapping.scope().of(graph.name(initializer));
      if (!known.contains(copy)) inputs.push_back(std::move(copy));
    };
    for (size_t i = 0; i < before; ++i) {  // in their order
      const NodeId id = facts.names().find(parse_input(inputs[i]).node);
      if (initializers.erase(id) > 0) run_copy(id);
    }
    for (const NodeId initializer : initializers) run_copy(initializer);
    if (inputs.size() == before) continue;
    result.changed.emplace_back(graph.name(NodeId{index}), "extended");
    graph.replace(NodeId{index}, with_inputs(graph.bytes(NodeId{index}), inputs));
  }
}

// What a loader runs may be an initializer itself: then it is a group of that one and its copy from now on.
void extend_main_op(const Facts& facts, CopyMapping& mapping, CopyChanges& result) {
  MetaGraph& meta = facts.model.meta();
  std::vector<std::string> entries;
  bool changed = false;
  for (const Collection& collection : collections(meta)) {
    const bool runs =
        collection.key == collection_key::kMainOp || collection.key == collection_key::kLegacyInitOp;
    const NodeId id =
        runs && collection.items.size() == 1 ? facts.names().find(node_of(collection.items[0])) : kNoNode;
    if (id == kNoNode || !facts.initializer_owner().contains(index_of(id)) || !mapping.copied(id)) {
      entries.emplace_back(collection.entry);
      continue;
    }
    const std::string original(facts.graph().name(id));
    const std::string group = mapping.free_name(original + "/group");
    NodeBuilder builder(group, "NoOp");
    builder.input("^" + original).input("^" + mapping.scope().of(original));
    facts.edited().append(builder.take());
    entries.push_back(collection_entry(collection.key, collection.kind, {group}));
    result.changed.emplace_back("collection " + std::string(collection.key), "runs the copy, too");
    changed = true;
  }
  if (changed) meta.set_parts(meta_field::kCollection, std::move(entries));
}

}  // namespace gedit
