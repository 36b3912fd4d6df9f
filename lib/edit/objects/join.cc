// Ids are positions in the list of objects: a part's move by the number of objects before it.
#include "edit/objects/join.h"

#include "base/error.h"
#include "base/wire.h"

namespace gedit {
namespace {

// SavedAsset.asset_file_def_index
std::string with_shifted_asset(std::string_view asset, uint32_t shift) {
  constexpr uint32_t kIndex = 1;
  std::string out;
  if (const uint64_t index = last_varint(asset, kIndex) + shift; index != 0)
    append_varint_field(out, kIndex, index);
  for (Fields fields(asset); fields.next();) {
    if (fields->number != kIndex) out += fields->raw;
  }
  return out;
}

}  // namespace

std::string join_saved_objects(std::vector<ObjectPart> parts) {
  SavedObjects joined;
  const bool rooted = parts.size() > 1 || !parts.front().name.empty();
  if (rooted) add_object(joined, ObjectKind::kUserObject, plain_user_object());
  std::vector<SavedObjects::Reference> signatures;
  for (ObjectPart& part : parts) {
    SavedObjects& objects = part.objects;
    const auto shift = static_cast<uint32_t>(joined.objects.size());
    if (rooted) add_child(joined, 0, part.name, shift);
    if (const auto map = signature_map(objects)) {
      for (const SavedObjects::Reference& signature : objects.objects[*map].children) {
        const auto key = part.signature_keys.find(signature.name);
        signatures.push_back(
            {signature.id + shift, key == part.signature_keys.end() ? signature.name : key->second});
      }
    }
    const auto move = [&](auto& holder) {
      if (shift == 0) return;
      each_id(holder, [&](uint32_t& id) { id += shift; });
      holder.changed = true;
    };
    for (SavedObjects::Object& object : objects.objects) {
      move(object);
      if (object.kind == ObjectKind::kAsset && part.first_asset != 0) {
        object.content = with_shifted_asset(object.content, part.first_asset);
        object.changed = true;
      }
      joined.objects.push_back(std::move(object));
    }
    for (SavedObjects::Function& function : objects.functions) {
      move(function);
      joined.functions.push_back(std::move(function));
    }
    joined.rest += objects.rest;
  }
  if (rooted) {
    const uint32_t map = make_signature_map(joined);
    for (const SavedObjects::Reference& signature : signatures)
      add_child(joined, map, signature.name, signature.id);
  }
  return saved_objects_bytes(joined);
}

std::vector<std::string_view> functions_of_objects(std::string_view object_graph) {
  constexpr uint32_t kConcreteFunction = 2;  // SavedObjectGraph
  std::vector<std::string_view> names;
  for (Fields fields(object_graph); fields.next();) {
    if (fields->bytes(kConcreteFunction)) names.push_back(map_entry(fields->value).key);
  }
  return names;
}

}  // namespace gedit
