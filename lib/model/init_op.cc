#include "model/init_op.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/first_free.h"
#include "base/size.h"
#include "graph/edges.h"
#include "graph/function_names.h"
#include "graph/names.h"
#include "model/collections.h"
#include "model/savers.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// The functions that fill tables, as initializers do in a TensorFlow 2 model; those that restore belong to
// savers.
class FillingFunctions {
 public:
  explicit FillingFunctions(const Graph& graph)
      : library_(Library::decode(graph.part(graph_field::kLibrary), graph.arena())),
        filling_(functions_with(library_, is_table_initializer_op)),
        restoring_(filling_.empty() ? Names() : functions_with(library_, is_restore_op)) {}

  bool called_by(std::string_view node_def) const {
    bool fills = false;
    if (filling_.empty()) return false;
    each_function_named(node_def, [&](std::string_view name) {
      fills = fills || (filling_.contains(name) && !restoring_.contains(name));
    });
    return fills;
  }

 private:
  using Names = std::unordered_set<std::string_view>;
  const Library library_;
  const Names filling_, restoring_;
};

class Giving {
 public:
  Giving(MetaGraph& meta, std::vector<Collection> all, const FillingFunctions& functions)
      : meta_(meta),
        graph_(meta.graph),
        all_(std::move(all)),
        functions_(functions),
        names_(graph_),
        sources_(producers(graph_, names_)),
        readers_(reversed(sources_)) {
    for (const Asset& asset : assets(meta)) fed_.insert(names_.find(node_of(asset.tensor)));
    restored_ = behind(is_restore_op);
    waiting_ = behind([](std::string_view op) { return is(op, OpKind::kMustBeFed); });
  }

  InitOp run() {
    std::vector<NodeId> tables = listed(collection_key::kTableInitializer), locals;
    if (tables.empty()) tables = table_initializers();
    std::erase_if(tables, [&](NodeId id) { return !runs_alone(id); });
    for (const NodeId id : filling_calls()) tables.push_back(id);
    if (tables.empty()) return std::move(result_);
    for (const Collection& collection : all_) {
      if (collection.key != collection_key::kLocalVariables || collection.kind != collection_kind::kBytesList)
        continue;
      for (const std::string_view def : collection.items) {
        const NodeId id = names_.find(node_of(variable_names(def).initializer));
        if (id != kNoNode && runs_alone(id)) locals.push_back(id);
      }
    }
    result_.tables = tables.size();
    std::vector<NodeId> wanted = tables;
    wanted.insert(wanted.end(), locals.begin(), locals.end());
    const NodeId there = group_of(wanted);
    if (there != kNoNode) {
      result_.operation = graph_.name(there);
    } else {
      add_group(wanted);
    }
    std::vector<std::string> entries;
    for (const Collection& collection : all_) entries.emplace_back(collection.entry);
    entries.push_back(
        collection_entry(collection_key::kMainOp, collection_kind::kNodeList, {result_.operation}));
    meta_.set_parts(meta_field::kCollection, std::move(entries));
    return std::move(result_);
  }

 private:
  std::vector<NodeId> listed(std::string_view key) const {
    std::vector<NodeId> found;
    for (const Collection& collection : all_) {
      if (collection.key != key || collection.kind != collection_kind::kNodeList) continue;
      for (const std::string_view item : collection.items) {
        if (const NodeId id = names_.find(node_of(item)); id != kNoNode) found.push_back(id);
      }
    }
    return found;
  }

  std::vector<NodeId> table_initializers() const {
    std::vector<NodeId> found;
    graph_.each_of(OpKind::kTableInitializer, [&](NodeId id) { found.push_back(id); });
    return found;
  }

  // A call that wants to be fed is a part of the network, which fills its tables itself.
  std::vector<NodeId> filling_calls() const {
    std::vector<NodeId> found;
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      const NodeId id{i};
      if (!graph_.removed(id) && functions_.called_by(graph_.bytes(id)) && !restored_.has(id) &&
          !waiting_.has(id))
        found.push_back(id);
    }
    return found;
  }

  // What cannot run when the model is loaded, since it restores values or wants to be fed.
  NodeSet behind(const std::function<bool(std::string_view)>& begins) const {
    NodeSet reached(graph_.size());
    std::vector<NodeId> open;
    const auto go = [&](NodeId id) {
      if (!fed_.contains(id) && reached.add(id)) open.push_back(id);
    };
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      if (!graph_.removed(NodeId{i}) && begins(graph_.op(NodeId{i}))) go(NodeId{i});
    }
    while (!open.empty()) {
      const NodeId at = open.back();
      open.pop_back();
      for (const NodeId reader : readers_.of(at)) go(reader);
    }
    return reached;
  }

  bool runs_alone(NodeId initializer) {
    if (restored_.has(initializer)) return false;
    if (!waiting_.has(initializer)) return true;
    result_.warnings.push_back(quoted("node", graph_.name(initializer)) +
                               " needs a placeholder: nothing runs it when the model is loaded");
    return false;
  }

  // An operation that is there and runs them all.
  NodeId group_of(const std::vector<NodeId>& wanted) const {
    const auto covers = [&](NodeId group) {
      const auto members = sources_.of(group);
      std::unordered_set<NodeId> runs(members.begin(), members.end());
      for (const NodeId member : members) {  // groups of groups
        if (!graph_.is(member, OpKind::kNoOp)) continue;
        const auto inner = sources_.of(member);
        runs.insert(inner.begin(), inner.end());
      }
      return std::all_of(wanted.begin(), wanted.end(), [&](NodeId id) { return runs.contains(id); });
    };
    for (const NodeId id : listed(collection_key::kLocalInitOp)) {
      if (covers(id)) return id;
    }
    if (wanted.size() == 1) return wanted.front();
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      const NodeId id{i};
      if (graph_.removed(id) || !graph_.is(id, OpKind::kNoOp) || sources_.of(id).size() != wanted.size())
        continue;
      if (covers(id)) return id;
    }
    return kNoNode;
  }

  void add_group(const std::vector<NodeId>& wanted) {
    const std::string name = first_free("init_all_tables",  // as TensorFlow calls it
                                        [&](std::string_view one) { return names_.find(one) != kNoNode; });
    NodeBuilder group(name, "NoOp");
    for (const NodeId id : wanted) group.input("^" + std::string(graph_.name(id)));
    graph_.append(group.take());
    result_.operation = name;
    result_.added = true;
  }

  MetaGraph& meta_;
  Graph& graph_;
  std::vector<Collection> all_;
  const FillingFunctions& functions_;
  Names names_;
  Edges sources_, readers_;
  NodeSet restored_, waiting_;
  std::unordered_set<NodeId> fed_;  // by loaders
  InitOp result_;
};

}  // namespace

std::string_view operation_of_signature(std::string_view signature) {
  for (Fields fields(signature); fields.next();) {
    if (fields->bytes(2)) return last_bytes(map_entry(fields->value).value, 1);
  }
  return {};
}

std::string_view loader_runs(const MetaGraph& meta, std::string_view from) {
  if (from == signature_key::kInit) {
    for (const std::string_view bytes : meta.parts_of(meta_field::kSignature)) {
      const MapEntry entry = map_entry(bytes);
      if (entry.key != signature_key::kInit) continue;
      if (const std::string_view name = operation_of_signature(entry.value); !name.empty()) return name;
    }
  }
  std::unordered_map<std::string_view, std::string_view> named;
  for (const Collection& collection : collections(meta)) {
    if (collection.kind == collection_kind::kNodeList && !collection.items.empty())
      named.emplace(collection.key, collection.items.front());
  }
  bool looks = from == signature_key::kInit;
  for (const CollectionRow& row : collection_table()) {
    looks = looks || row.key == from;
    if (!looks || !row.is(collection_trait::kLoaderRuns)) continue;
    if (const auto found = named.find(row.key); found != named.end()) return found->second;
  }
  return {};
}

InitOp give_init_op(MetaGraph& meta) {
  if (!loader_runs(meta).empty()) return {};
  bool filled = false;
  size_t tables = 0;
  std::string first;
  meta.graph.each_record([&](std::string_view node_def) {
    const std::string_view op = node_op(node_def);
    filled = filled || is_table_initializer_op(op);
    if (!is(op, OpKind::kHashTable)) return;  // one that stays as it is filled
    if (tables++ == 0) first = printable(node_name(node_def));
  });
  const FillingFunctions functions(meta.graph);
  if (!filled && tables > 0) {
    meta.graph.each_record(
        [&](std::string_view node_def) { filled = filled || functions.called_by(node_def); });
  }
  InitOp none;
  if (!filled && tables > 0)
    none.warnings.push_back("nothing fills its " + counted(tables, "table") + ", first '" + first + "'");
  if (!filled || meta.graph.mapped()) return none;
  meta.graph.decode();
  return Giving(meta, collections(meta), functions).run();
}

}  // namespace gedit
