#include "edit/around/keep.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/collections.h"
#include "model/init_op.h"
#include "model/saver_def.h"

namespace gedit {
namespace {

// Leaves out what is gone.
class RemainingNames final : public NameMap {
 public:
  explicit RemainingNames(const Remaining& remaining) : remaining_(remaining) {}

  bool map(NameKind kind, std::string_view name, std::string& out) const override {
    if (kind == NameKind::kNode && !remaining_.node(name)) return false;
    if (kind == NameKind::kFunction && !remaining_.function(name)) return false;
    out += name;
    return true;
  }

 private:
  const Remaining& remaining_;
};

// The first name that is gone and without which the message is of no use.
std::optional<std::string_view> missing_in(std::string_view message, const Schema& schema,
                                           const Remaining& remaining) {
  std::optional<std::string_view> missing;
  each_needed_name(message, schema, [&](const SchemaField&, std::string_view name, int) {
    if (!missing && !remaining.node(name)) missing = name;
  });
  return missing;
}

// The item as it stays; nothing where it goes.
std::optional<std::string> reduced(std::string_view item, const Schema& schema, const Remaining& remaining) {
  if (&schema == &kSaverDef) return remaining.saver(item) ? std::optional<std::string>(item) : std::nullopt;
  if (&schema == &kVariableDef && !remaining.variable(variable_names(item).variable)) return std::nullopt;
  if (missing_in(item, schema, remaining)) return std::nullopt;
  bool all = true;
  each_name(item, schema, [&](const SchemaField& field, std::string_view name, int) {
    all = all && (field.kind != NameKind::kNode || remaining.node(name));
  });
  return all ? std::string(item) : map_names(item, schema, RemainingNames(remaining));
}

// Whether there were savers, and none stays.
bool loses_savers(const MetaGraph& meta, const Remaining& remaining) {
  const std::vector<std::string_view> savers = saver_defs(meta);
  return !savers.empty() && std::ranges::none_of(savers, remaining.saver);
}

void reduce_collections(MetaGraph& meta, const Remaining& remaining) {
  // Of a graph without saver_def import_meta_graph makes a Saver of what this collection holds, which once
  // imported is operations that it cannot save.
  const bool no_saveables = loses_savers(meta, remaining);
  const std::vector<Collection> all = collections(meta);
  const ItemSchemas schemas(all);
  std::vector<std::string> entries;
  bool changed = false;
  for (const Collection& collection : all) {
    std::vector<std::string> items;
    bool same = true;
    for (const std::string_view item : collection.items) {
      std::optional<std::string> left(item);
      if (const Schema* schema = schemas.of(collection, item)) {
        left = reduced(item, *schema, remaining);
      } else if (collection.kind == collection_kind::kNodeList && !remaining.node(item)) {
        left.reset();
      }
      if (no_saveables && collection.key == collection_key::kSaveableObjects) left.reset();
      same = same && left && *left == item;
      if (left) items.push_back(std::move(*left));
    }
    changed = changed || !same;
    if (same) {
      entries.emplace_back(collection.entry);
    } else if (!items.empty()) {
      entries.push_back(collection_entry(collection.key, collection.kind, items));
    }
  }
  if (changed) meta.set_parts(meta_field::kCollection, std::move(entries));
}

void reduce_assets(MetaGraph& meta, const Remaining& remaining) {
  std::vector<std::string> kept;
  const std::vector<std::string_view> all = meta.parts_of(meta_field::kAsset);
  for (const std::string_view asset : all) {
    if (!missing_in(asset, kAssetFileDef, remaining)) kept.emplace_back(asset);
  }
  if (kept.size() != all.size()) meta.set_parts(meta_field::kAsset, std::move(kept));
}

// Without an object graph TensorFlow 2 loads a SavedModel as one of TensorFlow 1, and takes every signature
// for one to call: an init op that feeds on an asset is then refused. Where TensorFlow 1 keeps its init op,
// both find it (saved_model/loader_impl.py, get_init_op).
void init_as_collection(MetaGraph& meta) {
  std::vector<std::string> signatures, entries;
  std::string operation;
  for (const std::string_view bytes : meta.parts_of(meta_field::kSignature)) {
    const MapEntry entry = map_entry(bytes);
    if (entry.key == signature_key::kInit) {
      operation = node_of(operation_of_signature(entry.value));
    } else {
      signatures.emplace_back(bytes);
    }
  }
  if (operation.empty()) return;
  bool there = false;
  for (const Collection& collection : collections(meta)) {
    there = there || collection.key == collection_key::kMainOp;
    entries.emplace_back(collection.entry);
  }
  meta.set_parts(meta_field::kSignature, std::move(signatures));
  if (there) return;
  entries.push_back(collection_entry(collection_key::kMainOp, collection_kind::kNodeList, {operation}));
  meta.set_parts(meta_field::kCollection, std::move(entries));
}

}  // namespace

void reduce_signatures(MetaGraph& meta, const Remaining& remaining, Changes& changes) {
  std::vector<std::string> kept;
  std::string keys, gone;
  size_t dropped = 0;
  const std::vector<std::string_view> all = meta.parts_of(meta_field::kSignature);
  for (const std::string_view bytes : all) {
    const MapEntry entry = map_entry(bytes);
    const auto missing = missing_in(entry.value, kSignatureDef, remaining);
    if (!missing) {
      kept.emplace_back(bytes);
    } else if (!entry.key.starts_with("__saved_model_")) {
      if (dropped++ == 0) gone = printable(*missing);
      keys += (dropped == 1 ? "'" : ", '") + printable(entry.key) + "'";
    }
  }
  if (dropped == 1) changes.notes.push_back("signature " + keys + " is dropped: '" + gone + "' is gone");
  if (dropped > 1) {
    changes.notes.push_back("signatures " + keys + " are dropped: what they name is gone, first '" + gone +
                            "'");
  }
  if (kept.size() != all.size()) meta.set_parts(meta_field::kSignature, std::move(kept));
}

void reduce_surroundings(MetaGraph& meta, const Remaining& remaining) {
  reduce_collections(meta, remaining);
  reduce_assets(meta, remaining);
  if (meta.has(meta_field::kSaver) && !remaining.saver(meta.part(meta_field::kSaver)))
    meta.set_parts(meta_field::kSaver, {});
  if (!meta.has(meta_field::kInfo)) return;
  const std::string_view info = meta.part(meta_field::kInfo);
  std::string mapped = map_names(info, kMetaInfoDef, RemainingNames(remaining));
  if (mapped != info) meta.set_part(meta_field::kInfo, std::move(mapped));
}

void drop_object_graph(MetaGraph& meta) {
  meta.set_parts(meta_field::kObjectGraph, {});
  init_as_collection(meta);
}

}  // namespace gedit
