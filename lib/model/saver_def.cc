#include "model/saver_def.h"

#include "model/collections.h"

namespace gedit {

SaverDef parse_saver_def(std::string_view bytes) {
  return {last_bytes(bytes, 1), last_bytes(bytes, 2), last_bytes(bytes, 3), last_varint(bytes, 5) != 0,
          last_varint(bytes, 7)};
}

std::string saver_def_bytes(const SaverDef& def) {
  std::string bytes;
  append_bytes_field(bytes, 1, def.filename);
  append_bytes_field(bytes, 2, def.save);
  append_bytes_field(bytes, 3, def.restore);
  if (def.sharded) append_varint_field(bytes, 5, 1);
  append_varint_field(bytes, 7, def.version);
  return bytes;
}

SaverDefNodes saver_def_nodes(std::string_view bytes, const Names& names) {
  const SaverDef def = parse_saver_def(bytes);
  const auto find = [&](std::string_view name) { return name.empty() ? kNoNode : names.find(node_of(name)); };
  return {find(def.filename), find(def.save), find(def.restore)};
}

std::vector<std::string_view> saver_defs(const MetaGraph& meta) {
  std::vector<std::string_view> defs;
  if (meta.has(meta_field::kSaver)) defs.push_back(meta.part(meta_field::kSaver));
  for (const Collection& collection : collections(meta)) {
    if (collection.key == collection_key::kSavers && collection.kind == collection_kind::kBytesList)
      defs.insert(defs.end(), collection.items.begin(), collection.items.end());
  }
  return defs;
}

}  // namespace gedit
