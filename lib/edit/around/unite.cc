#include "edit/around/unite.h"

#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/map_entry.h"
#include "model/collections.h"
#include "model/init_op.h"

namespace gedit {
namespace {

// One collection of several graphs.
struct SameKey {
  std::string_view key;
  struct Member {
    const UnitedGraph* graph;
    Collection collection;
  };
  std::vector<Member> members;
};

std::vector<SameKey> by_key(const std::vector<UnitedGraph>& graphs) {
  std::vector<SameKey> groups;
  std::unordered_map<std::string_view, size_t> places;
  for (const UnitedGraph& graph : graphs) {
    for (Collection& collection : collections(*graph.meta)) {
      const auto [at, fresh] = places.emplace(collection.key, groups.size());
      if (fresh) groups.push_back({collection.key, {}});
      groups[at->second].members.push_back({&graph, std::move(collection)});
    }
  }
  return groups;
}

// The kind of all; names where some have VariableDefs and some the variables' names.
uint32_t common_kind(const SameKey& group, std::vector<std::string>& warnings) {
  uint32_t kind = group.members.front().collection.kind;
  const auto names_or_bytes = [](uint32_t one) {
    return one == collection_kind::kNodeList || one == collection_kind::kBytesList;
  };
  for (const SameKey::Member& member : group.members) {
    const uint32_t other = member.collection.kind;
    if (other == kind) continue;
    if (!names_or_bytes(kind) || !names_or_bytes(other) || !holds_variables(group.key)) {
      throw Error(Cause::kRefused,
                  "holds other things than that of " + printable(group.members.front().graph->path))
          .in(std::string(member.graph->path))
          .of(quoted("collection", group.key));
    }
    kind = collection_kind::kNodeList;
    warnings.push_back("collection '" + printable(group.key) +
                       "': names here, VariableDefs there; all are names now");
  }
  return kind;
}

std::string all_items(const SameKey& group, bool share, std::vector<std::string>& warnings) {
  const uint32_t kind = common_kind(group, warnings);
  const bool named = kind == collection_kind::kNodeList || kind == collection_kind::kAnyList ||
                     collection_row(group.key).schema != nullptr;
  std::string list;
  std::set<std::string_view> known;
  for (const SameKey::Member& member : group.members) {
    if (kind == collection_kind::kInt64List || kind == collection_kind::kFloatList) {
      list += last_bytes(map_entry(member.collection.entry).value, kind);
      continue;
    }
    std::vector<std::string_view> items;
    for (const std::string_view item : member.collection.items)
      items.push_back(member.collection.kind == kind ? item : variable_names(item).variable);
    for (const std::string_view item : items) {
      // What two graphs share is there as often as in the first.
      if (!share || !named || !known.contains(item)) append_bytes_field(list, 1, item);
    }
    known.insert(items.begin(), items.end());
  }
  std::string def;
  append_bytes_field(def, kind, list);
  return map_entry_bytes(group.key, def);
}

// The operations that are run under a key. A loader goes by one key alone, so for that it also runs what
// other graphs name elsewhere.
struct RunUnder {
  std::vector<std::string> operations;
  size_t graphs = 0;  // that have any
};

RunUnder run_under(const CollectionRow& row, const UniteRequest& request) {
  RunUnder run;
  std::unordered_set<std::string> known;
  for (const UnitedGraph& graph : request.graphs) {
    std::vector<std::string> own;
    for (const Collection& collection : collections(*graph.meta)) {
      if (collection.key != row.key || collection.kind != collection_kind::kNodeList) continue;
      for (const std::string_view item : collection.items) own.emplace_back(node_of(item));
    }
    if (own.empty() && row.is(collection_trait::kLoaderRuns)) {
      if (const std::string_view other = loader_runs(*graph.meta, row.key); !other.empty())
        own.emplace_back(node_of(other));
    }
    if (!own.empty()) ++run.graphs;
    for (const std::string& operation : own) {
      if (known.insert(operation).second) run.operations.push_back(operation);
    }
  }
  return run;
}

}  // namespace

std::vector<std::string> loaders_run(const UniteRequest& request, std::string_view from) {
  std::vector<std::string> operations;
  for (const UnitedGraph& graph : request.graphs) {
    if (const std::string_view name = loader_runs(*graph.meta, from); !name.empty())
      operations.emplace_back(node_of(name));
  }
  return operations;
}

std::vector<std::string> united_collections(const UniteRequest& request, std::vector<std::string>& warnings) {
  std::vector<std::string> entries;
  for (SameKey& group : by_key(request.graphs)) {
    if (group.members.size() > 1)  // one that holds nothing is of any kind
      std::erase_if(group.members, [](const auto& member) { return member.collection.kind == 0; });
    const CollectionRow row = collection_row(group.key);
    const RunUnder run = row.is(collection_trait::kRun) ? run_under(row, request) : RunUnder();
    if (run.graphs > 1 && run.operations.size() > 1) {
      entries.push_back(collection_entry(group.key, collection_kind::kNodeList,
                                         {request.run_all(group.key, run.operations)}));
    } else if (group.members.size() == 1) {
      entries.emplace_back(group.members.front().collection.entry);
    } else if (!group.members.empty()) {
      entries.push_back(all_items(group, request.share, warnings));
      if (group.key == collection_key::kGlobalStep && !request.share)
        warnings.emplace_back("collection 'global_step' holds several; tf.train.get_global_step takes one");
    }
  }
  return entries;
}

}  // namespace gedit
