#include "model/collections.h"

#include <algorithm>
#include <array>

#include "base/map_entry.h"

namespace gedit {
namespace {

void add_list(Collection& collection, std::string_view list) {
  for (Fields items(list); items.next();) {
    if (items->number != 1) continue;
    if (collection.kind == collection_kind::kInt64List) {
      each_varint(items.field(), [&](uint64_t) { ++collection.numbers; });
    } else if (collection.kind == collection_kind::kFloatList) {
      collection.numbers += items->value.size() / 4;
    } else if (items->wire == Wire::kBytes) {
      collection.items.push_back(items->value);
    }
  }
}

void add_def(Collection& collection, std::string_view collection_def) {
  for (Fields lists(collection_def); lists.next();) {
    if (lists->wire != Wire::kBytes) continue;
    if (lists->number != collection.kind) {  // a oneof: the last one counts
      collection.kind = lists->number;
      collection.items.clear();
      collection.numbers = 0;
    }
    add_list(collection, lists->value);
  }
}

}  // namespace

std::span<const CollectionRow> collection_table() {
  using namespace collection_trait;
  namespace in = collection_key;
  static constexpr std::array kTable{
      CollectionRow{in::kVariables, &kVariableDef},
      CollectionRow{in::kTrainableVariables, &kVariableDef},
      CollectionRow{"moving_average_variables", &kVariableDef},
      CollectionRow{in::kLocalVariables, &kVariableDef},
      CollectionRow{"model_variables", &kVariableDef},
      CollectionRow{"metric_variables", &kVariableDef},
      CollectionRow{in::kGlobalStep, &kVariableDef, kOneItem},
      CollectionRow{"queue_runners", &kQueueRunnerDef},
      CollectionRow{in::kSavers, &kSaverDef},
      CollectionRow{"cond_context", &kCondContextDef},
      CollectionRow{"while_context", &kWhileContextDef},
      // Loaders look in this order (tensorflow/cc/saved_model/loader_util.cc, GetInitOp).
      CollectionRow{in::kMainOp, nullptr, kOneItem | kRun | kLoaderRuns},
      CollectionRow{in::kLegacyInitOp, nullptr, kOneItem | kRun | kLoaderRuns},
      CollectionRow{in::kInitOp, nullptr, kOneItem | kRun},
      CollectionRow{in::kLocalInitOp, nullptr, kOneItem | kRun},
      CollectionRow{"ready_op", nullptr, kOneItem},
      CollectionRow{"ready_for_local_init_op", nullptr, kOneItem},
      CollectionRow{"summary_op", nullptr, kOneItem},
      CollectionRow{in::kTrainOp, nullptr, kOneItem},
      CollectionRow{"saved_model_train_op", nullptr, kOneItem},
      CollectionRow{"global_step_read_op_cache", nullptr, kOneItem},
      CollectionRow{"eval_step", nullptr, kOneItem},
  };
  return kTable;
}

CollectionRow collection_row(std::string_view key) {
  const std::span<const CollectionRow> table = collection_table();
  const auto found = std::ranges::find(table, key, &CollectionRow::key);
  return found == table.end() ? CollectionRow{key} : *found;
}

ItemSchemas::ItemSchemas(const std::vector<Collection>& all) {
  for (const Collection& collection : all) {
    if (collection.kind == collection_kind::kBytesList && holds_variables(collection.key))
      variable_defs_.insert(collection.items.begin(), collection.items.end());
  }
}

const Schema* ItemSchemas::of(const Collection& collection, std::string_view item) const {
  if (collection.kind == collection_kind::kAnyList) return &kAnyItem;
  if (collection.kind != collection_kind::kBytesList) return nullptr;
  const Schema* schema = collection_row(collection.key).schema;
  return schema == nullptr && variable_defs_.contains(item) ? &kVariableDef : schema;
}

std::vector<Collection> collections(const MetaGraph& meta) {
  std::vector<Collection> found;
  for (const std::string_view bytes : meta.parts_of(meta_field::kCollection)) {
    Collection collection;
    collection.key = map_entry(bytes).key;
    collection.entry = bytes;
    // As protobuf reads it: of two keys the last counts, of two values all that is in both.
    for (Fields entry(bytes); entry.next();) {
      if (entry->bytes(2)) add_def(collection, entry->value);
    }
    found.push_back(std::move(collection));
  }
  return found;
}

std::string collection_entry(std::string_view key, uint32_t kind, const std::vector<std::string>& items) {
  std::string list;
  for (const std::string& item : items) append_bytes_field(list, 1, item);
  std::string def;
  append_bytes_field(def, kind, list);
  return map_entry_bytes(key, def);
}

std::vector<Asset> assets(const MetaGraph& meta) {
  std::vector<Asset> found;
  const auto add = [&](std::string_view definition) {
    found.push_back({last_bytes(last_bytes(definition, 1), 1), last_bytes(definition, 2)});
  };
  for (const std::string_view definition : meta.parts_of(meta_field::kAsset)) add(definition);
  if (!found.empty()) return found;
  for (const Collection& collection : collections(meta)) {
    if (collection.key != collection_key::kAssets || collection.kind != collection_kind::kAnyList) continue;
    for (const std::string_view item : collection.items) add(last_bytes(item, 2));
  }
  return found;
}

VariableNames variable_names(std::string_view variable_def) {
  VariableNames names;
  for (Fields fields(variable_def); fields.next();) {
    if (fields->bytes(1)) names.variable = fields->value;
    if (fields->bytes(2)) names.initializer = fields->value;
    if (fields->bytes(3)) names.snapshot = fields->value;
    if (fields->bytes(6)) names.initial_value = fields->value;
  }
  return names;
}

}  // namespace gedit
