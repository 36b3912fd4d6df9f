#include "edit/around/map.h"

#include <array>

#include "base/map_entry.h"
#include "model/collections.h"

namespace gedit {
namespace {

// `entry` of collection_def, its items mapped; the same bytes where nothing changes.
std::string map_collection(const Collection& collection, const ItemSchemas& schemas, const NameMap& map) {
  std::vector<std::string> items;
  bool changed = false;
  for (const std::string_view item : collection.items) {
    std::string mapped;
    bool stays = true;
    if (collection.kind == collection_kind::kNodeList) {
      stays = map.map(NameKind::kNode, item, mapped);
    } else if (const Schema* schema = schemas.of(collection, item)) {
      mapped = map_names(item, *schema, map);
    } else {
      mapped = item;
    }
    changed = changed || !stays || mapped != item;
    if (stays) items.push_back(std::move(mapped));
  }
  return changed ? collection_entry(collection.key, collection.kind, items) : std::string(collection.entry);
}

// The messages around a graph that name anything, but signatures and collections, which are maps.
struct NamingPart {
  uint32_t number;
  const Schema& schema;
};
constexpr std::array kNamingParts{
    NamingPart{meta_field::kInfo, kMetaInfoDef}, NamingPart{meta_field::kSaver, kSaverDef},
    NamingPart{meta_field::kAsset, kAssetFileDef}, NamingPart{meta_field::kObjectGraph, kSavedObjectGraph}};

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
  const std::vector<Collection> all = collections(meta);
  const ItemSchemas schemas(all);
  for (const Collection& collection : all) {
    entries.push_back(map_collection(collection, schemas, map));
    changed = changed || entries.back() != collection.entry;
  }
  if (changed) meta.set_parts(meta_field::kCollection, std::move(entries));

  std::vector<std::string> signatures;
  changed = false;
  for (const std::string_view bytes : meta.parts_of(meta_field::kSignature)) {
    const MapEntry entry = map_entry(bytes);
    const std::string mapped = map_names(entry.value, kSignatureDef, map);
    signatures.push_back(mapped == entry.value ? std::string(bytes) : map_entry_bytes(entry.key, mapped));
    changed = changed || mapped != entry.value;
  }
  if (changed) meta.set_parts(meta_field::kSignature, std::move(signatures));

  for (const NamingPart& part : kNamingParts) map_parts(meta, part.number, part.schema, map);
}

void each_name_around(const MetaGraph& meta, const NameUse& use) {
  const std::vector<Collection> all = collections(meta);
  const ItemSchemas schemas(all);
  const SchemaField name{0, SchemaField::Is::kName};
  for (const Collection& collection : all) {
    for (const std::string_view item : collection.items) {
      if (collection.kind == collection_kind::kNodeList) {
        use(name, item, 0);
      } else if (const Schema* schema = schemas.of(collection, item)) {
        each_name(item, *schema, use);
      }
    }
  }
  for (const std::string_view bytes : meta.parts_of(meta_field::kSignature))
    each_name(map_entry(bytes).value, kSignatureDef, use);
  for (const NamingPart& part : kNamingParts) {
    for (const std::string_view message : meta.parts_of(part.number)) each_name(message, part.schema, use);
  }
}

}  // namespace gedit
