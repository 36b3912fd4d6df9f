#include "edit/around/extend.h"

namespace gedit {
namespace {

// The names of one message's copy.
class NamesOfCopy final : public NameMap {
 public:
  NamesOfCopy(std::string_view message, const Schema& schema, const CopiedNames& copies) : copies_(copies) {
    std::string_view before;
    each_name(message, schema, [&](const SchemaField& field, std::string_view name, int) {
      if (field.has(name_role::kOutside)) outside_.insert(name);
      if (field.has(name_role::kInside) && copies.copied(name)) outside_.insert(before);
      before = name;
    });
  }
  bool map(NameKind kind, std::string_view name, std::string& out) const override {
    return copies_.append(kind, name, outside_.contains(name), out);
  }

 private:
  const CopiedNames& copies_;
  std::unordered_set<std::string_view> outside_;  // a context lists them a second time, among its values
};

// Whether what the message is about is copied.
bool subjects_copied(std::string_view message, const Schema& schema, const CopiedNames& copies) {
  bool any = false, all = true;
  each_name(message, schema, [&](const SchemaField& field, std::string_view name, int depth) {
    if (depth > 0 || !field.has(name_role::kSubject)) return;
    any = true;
    all = all && copies.copied(name);
  });
  return any && all;
}

std::vector<std::string> gained(const Collection& collection, const ItemSchemas& schemas,
                                const CopiedNames& copies) {
  std::vector<std::string> items;
  if (collection_row(collection.key).is(collection_trait::kOneItem) && collection.items.size() <= 1)
    return items;
  for (const std::string_view item : collection.items) {
    std::string name;
    if (const Schema* schema = schemas.of(collection, item)) {
      if (subjects_copied(item, *schema, copies))
        items.push_back(map_names(item, *schema, NamesOfCopy(item, *schema, copies)));
    } else if (collection.kind == collection_kind::kNodeList && copies.copied(item) &&
               copies.append(NameKind::kNode, item, false, name)) {
      items.push_back(std::move(name));
    }
  }
  return items;
}

}  // namespace

std::vector<std::string> extend_collections(MetaGraph& meta, const std::vector<Collection>& all,
                                            const CopiedNames& copies) {
  const ItemSchemas schemas(all);
  std::vector<std::string> entries, grown;
  for (const Collection& collection : all) {
    const std::vector<std::string> more = gained(collection, schemas, copies);
    if (more.empty()) {
      entries.emplace_back(collection.entry);
      continue;
    }
    std::vector<std::string> items(collection.items.begin(), collection.items.end());
    items.insert(items.end(), more.begin(), more.end());
    entries.push_back(collection_entry(collection.key, collection.kind, items));
    grown.emplace_back(collection.key);
  }
  if (!grown.empty()) meta.set_parts(meta_field::kCollection, std::move(entries));
  return grown;
}

}  // namespace gedit
