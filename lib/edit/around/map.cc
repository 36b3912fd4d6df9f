#include "edit/around/map.h"

#include "model/collections.h"

namespace gedit {
namespace {

// `entry` of collection_def, its items mapped; the same bytes where nothing changes.
std::string map_collection(const Collection& collection, const NameMap& map) {
  const Schema* schema =
      collection.kind == collection_kind::kAnyList ? &kAnyItem : collection_schema(collection.key);
  const bool names = collection.kind == collection_kind::kNodeList;
  const bool messages = collection.kind == collection_kind::kAnyList ||
                        (collection.kind == collection_kind::kBytesList && schema != nullptr);
  if (!names && !messages) return std::string(collection.entry);
  std::vector<std::string> items;
  bool changed = false;
  for (const std::string_view item : collection.items) {
    std::string mapped;
    if (messages) {
      mapped = map_names(item, *schema, map);
    } else if (!map.map(NameKind::kNode, item, mapped)) {
      changed = true;
      continue;
    }
    changed = changed || mapped != item;
    items.push_back(std::move(mapped));
  }
  return changed ? collection_entry(collection.key, collection.kind, items) : std::string(collection.entry);
}

void map_parts(MetaGraph& meta, uint32_t number, const Schema& schema, const NameMap& map) {
  std::vector<std::string> contents;
  bool changed = false;
  for (const std::string_view part : meta.parts_of(number)) {
    contents.push_back(map_names(part, schema, map));
    changed = changed || contents.back() != part;
  }
  if (changed) meta.set_parts(number, std::move(contents));
}

}  // namespace

void map_surroundings(MetaGraph& meta, const NameMap& map) {
  std::vector<std::string> entries;
  bool changed = false;
  for (const Collection& collection : collections(meta)) {
    entries.push_back(map_collection(collection, map));
    changed = changed || entries.back() != collection.entry;
  }
  if (changed) meta.set_parts(meta_field::kCollection, std::move(entries));

  std::vector<std::string> signatures;
  changed = false;
  for (const std::string_view bytes : meta.parts_of(meta_field::kSignature)) {
    const MapEntry entry = map_entry(bytes);
    const std::string mapped = map_names(entry.value, kSignatureDef, map);
    std::string whole(bytes);
    if (mapped != entry.value) {
      whole.clear();
      append_bytes_field(whole, 1, entry.key);
      append_bytes_field(whole, 2, mapped);
      changed = true;
    }
    signatures.push_back(std::move(whole));
  }
  if (changed) meta.set_parts(meta_field::kSignature, std::move(signatures));

  map_parts(meta, meta_field::kInfo, kMetaInfoDef, map);
  map_parts(meta, meta_field::kSaver, kSaverDef, map);
  map_parts(meta, meta_field::kAsset, kAssetFileDef, map);
  map_parts(meta, meta_field::kObjectGraph, kSavedObjectGraph, map);
}

}  // namespace gedit
