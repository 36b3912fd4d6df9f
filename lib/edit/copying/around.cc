#include "edit/copying/around.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// A second item would make TensorFlow refuse or pick (docs/rules.md#one-item-collections).
constexpr std::array<std::string_view, 12> kOneItem{
    "global_step",    "global_step_read_op_cache", "eval_step",  "init_op",  "local_init_op",
    "ready_op",       "ready_for_local_init_op",   "summary_op", "train_op", "saved_model_main_op",
    "legacy_init_op", "saved_model_train_op"};

bool holds_one(const Collection& collection) {
  const bool named = std::find(kOneItem.begin(), kOneItem.end(), collection.key) != kOneItem.end();
  return named && collection.items.size() <= 1;
}

class CollectionExtension {
 public:
  CollectionExtension(const Facts& facts, const CopyMapping& mapping) : facts_(facts), mapping_(mapping) {
    for (const Collection& collection : facts.collections()) {
      if (collection.kind != collection_kind::kBytesList || !holds_variables(collection.key)) continue;
      definitions_.insert(collection.items.begin(), collection.items.end());
    }
  }

  // Items that the collection gains, in the order of their originals.
  std::vector<std::string> gained(const Collection& collection) const {
    std::vector<std::string> items;
    if (holds_one(collection)) return items;
    if (collection.kind == collection_kind::kNodeList) {
      for (const std::string_view item : collection.items) {
        std::string name;
        if (copied(item) && CopyNames(facts_, mapping_).map(NameKind::kNode, item, name))
          items.push_back(std::move(name));
      }
    }
    if (collection.kind != collection_kind::kBytesList) return items;
    for (const std::string_view item : collection.items) {
      if (holds_variables(collection.key) || definitions_.contains(item)) {
        if (copied(variable_names(item).variable)) items.push_back(mapped(item, kVariableDef));
      } else if (collection.key == "queue_runners") {
        if (whole_runner(item)) items.push_back(mapped(item, kQueueRunnerDef));
      } else if (collection.key == "cond_context") {
        if (copied(last_bytes(item, 3))) items.push_back(context(item, kCondContextDef, true));
      } else if (collection.key == "while_context") {
        if (copied(last_bytes(item, 5))) items.push_back(context(item, kWhileContextDef, false));
      }
    }
    return items;
  }

 private:
  bool copied(std::string_view name) const {
    const NodeId id = name.empty() ? kNoNode : facts_.names().find(node_of(name));
    return id != kNoNode && mapping_.copied(id);
  }

  std::string mapped(std::string_view item, const Schema& schema) const {
    CopyNames names(facts_, mapping_);
    // What a VariableDef names and was not copied (a cut initial value) stays the original's.
    if (&schema == &kVariableDef) {
      const VariableNames of = variable_names(item);
      for (const std::string_view name : {of.initializer, of.snapshot, of.initial_value})
        names.outside.insert(name);
    }
    return map_names(item, schema, names);
  }

  // A runner works on its queue with all of its operations or not at all.
  bool whole_runner(std::string_view item) const {
    for (Fields fields(item); fields.next();) {
      const bool names = fields->wire == Wire::kBytes && fields->number >= 1 && fields->number <= 4;
      if (names && !fields->value.empty() && !copied(fields->value)) return false;
    }
    return true;
  }

  std::string context(std::string_view item, const Schema& schema, bool cond) const {
    CopyNames names(facts_, mapping_);
    add_outside(item, cond, names, 0);
    return map_names(item, schema, names);
  }

  // Outside values, of nested contexts as well, keep the original where it has no copy. They are listed
  // twice: as keys of external_values and among the values.
  static void add_outside(std::string_view def, bool cond, CopyNames& names, int depth) {
    if (depth > kDeepest) return;  // map_names refuses it
    for (Fields fields(def); fields.next();) {
      if (fields->wire != Wire::kBytes) continue;
      if (cond ? fields->number == 2 : fields->number == 11)
        names.outside.insert(fields->value);  // pred, maximum_iterations
      if (fields->number == (cond ? 5U : 9U)) {
        for (Fields values(fields->value); values.next();) {
          if (values->bytes(2)) names.outside.insert(map_entry(values->value).key);
        }
      }
      if (fields->number != (cond ? 6U : 12U)) continue;
      for (Fields nested(fields->value); nested.next();) {
        if (nested->wire == Wire::kBytes) add_outside(nested->value, nested->number == 1, names, depth + 1);
      }
    }
  }

  const Facts& facts_;
  const CopyMapping& mapping_;
  std::unordered_set<std::string_view>
      definitions_;  // VariableDefs, to know one in a collection of the user's
};

}  // namespace

void extend_collections(const Facts& facts, const CopyMapping& mapping, CopyResult& result) {
  const CollectionExtension extension(facts, mapping);
  std::vector<std::string> entries;
  bool changed = false;
  for (const Collection& collection : facts.collections()) {
    const std::vector<std::string> gained = extension.gained(collection);
    if (gained.empty()) {
      entries.emplace_back(collection.entry);
      continue;
    }
    std::vector<std::string> items(collection.items.begin(), collection.items.end());
    items.insert(items.end(), gained.begin(), gained.end());
    entries.push_back(collection_entry(collection.key, collection.kind, items));
    result.changed.push_back("collection " + std::string(collection.key));
    changed = true;
  }
  if (changed) facts.model.meta().set_parts(meta_field::kCollection, std::move(entries));
}

void extend_init_groups(const Facts& facts, const CopyMapping& mapping, CopyResult& result) {
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
    result.changed.emplace_back(graph.name(NodeId{index}));
    graph.replace(NodeId{index}, with_inputs(graph.bytes(NodeId{index}), inputs));
  }
}

}  // namespace gedit
