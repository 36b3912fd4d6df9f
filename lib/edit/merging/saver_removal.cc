// The nodes of savers that are joined to another: some move into its scope, the others go.
#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "edit/merging/saver_state.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// `Assign_12` is an `Assign`.
std::string_view without_number(std::string_view name) {
  const size_t underscore = name.find_last_not_of("0123456789");
  const bool numbered = underscore != std::string_view::npos && underscore > 0 && name[underscore] == '_' &&
                        underscore + 1 < name.size();
  return numbered ? name.substr(0, underscore) : name;
}

}  // namespace

// The nodes of a saver that stay go into the kept saver's scope.
void MergedSavers::move(MergePart& part, const std::vector<NodeId>& nodes, std::string_view scope) {
  for (const NodeId id : nodes) {
    const std::string_view name = part.graph().name(id);
    if (!name.starts_with(scope) || scope.empty() || part.renamed(name)) continue;
    part.rename(id, names_.free_name(kept_->scope + std::string(without_number(name.substr(scope.size())))));
  }
}

// The operand's savers, one scope after the other. What restores and does not save is no saver, but an
// initializer of tf.train.init_from_checkpoint's; those lie beside the variables, often in no scope.
void MergedSavers::remove_saver(MergePart& part, const std::vector<NodeId>& kept, std::string_view scope) {
  const Graph& graph = part.graph();
  const Own& own = own_[part.number];
  struct Group {
    std::vector<NodeId> nodes;
    bool saves = false;
  };
  std::map<std::string, Group> groups;
  for (const SaverNode& save : own.all.saves) {
    if (of_another(part, save) != nullptr) continue;
    Group& group = groups[scope_of(graph.name(save.node))];
    group.nodes.push_back(save.node);
    group.saves = true;
  }
  std::unordered_set<uint32_t> ends;
  for (const SaverNode& restore : own.all.restores) {
    if (of_another(part, restore) != nullptr) continue;
    std::vector<NodeId>& nodes = groups[scope_of(graph.name(restore.node))].nodes;
    nodes.push_back(restore.node);
    for (const SavedTensor& tensor : restore.tensors)
      nodes.insert(nodes.end(), tensor.between.begin(), tensor.between.end());
    for (const FilledState& filled : restore.filled) {
      if (!ends.insert(index_of(filled.end)).second) continue;
      nodes.insert(nodes.end(), filled.way->begin(), filled.way->end());
      nodes.push_back(filled.end);
    }
  }
  for (const NodeId id : kept) {
    if (!is_assign_op(node_op(graph.bytes(id)))) continue;
    for (const NodeId reader : part.facts.consumers().of(id)) {
      if (is_no_op(node_op(graph.bytes(reader))) && graph.name(reader).starts_with(scope))
        groups[std::string(scope)].nodes.push_back(reader);
    }
  }
  NodeSet stays(graph.size());
  for (const NodeId id : kept) stays.add(id);
  std::unordered_map<uint32_t, size_t> readers;  // of what savers read: how many stay
  for (const auto& [own_scope, group] : groups) {
    if (own_scope != scope && (!group.saves || own_scope.empty())) continue;
    const bool counts = std::ranges::any_of(own.main.saves, [&nodes = group.nodes](const SaverNode& save) {
      return std::ranges::find(nodes, save.node) != nodes.end();
    });
    const NodeId needs = remove_nodes(part, group.nodes, own_scope, stays, readers);
    if (needs != kNoNode)
      warnings_.push_back("the saver of " + printable(part.model.path) + " stays in the graph: '" +
                          printable(graph.name(needs)) + "' needs it");
    if (needs == kNoNode && group.saves && !counts)
      notes_.push_back("saver '" + printable(own_scope) + "' of " + printable(part.model.path) +
                       " is left out: one saves and restores the variables of all files");
  }
  for (const NodeId id : part.removed().nodes()) removed_.insert(part.name_of(graph.name(id)));
}

// Everything that only saved and restored: downwards from the nodes, then upwards. Gives what needs one of
// them, in which case nothing goes.
NodeId MergedSavers::remove_nodes(MergePart& part, const std::vector<NodeId>& nodes, std::string_view scope,
                                  const NodeSet& stays, std::unordered_map<uint32_t, size_t>& readers) {
  const Graph& graph = part.graph();
  const Edges &consumers = part.facts.consumers(), &producers = part.facts.producers();
  std::unordered_set<uint32_t> gone;
  std::vector<NodeId> all_gone;
  const auto remove = [&](NodeId id) {
    if (!stays.has(id) && gone.insert(index_of(id)).second) all_gone.push_back(id);
  };
  for (const NodeId id : nodes) remove(id);
  for (size_t i = 0; i < all_gone.size(); ++i) {
    for (const NodeId reader : consumers.of(all_gone[i])) {
      if (graph.name(reader).starts_with(scope)) remove(reader);
    }
  }
  for (const NodeId id : all_gone) {
    for (const NodeId reader : consumers.of(id)) {
      if (!gone.contains(index_of(reader)) && !stays.has(reader) && !part.removed().has(reader))
        return reader;
    }
  }
  // What only they read.
  for (size_t i = 0; i < all_gone.size(); ++i) {
    for (const NodeId source : producers.of(all_gone[i])) {
      const auto [left, fresh] = readers.emplace(index_of(source), 0);
      if (fresh) left->second = consumers.of(source).size();
      --left->second;
      if (left->second > 0 || stays.has(source) || !graph.name(source).starts_with(scope)) continue;
      if (gone.insert(index_of(source)).second) all_gone.push_back(source);
    }
  }
  for (const NodeId id : all_gone) part.remove(id);
  return kNoNode;
}

}  // namespace gedit
