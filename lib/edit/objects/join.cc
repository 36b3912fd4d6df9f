// Ids are positions in the list of objects: a part's move by the number of objects before it.
#include "edit/objects/join.h"

namespace gedit {

std::string join_saved_objects(std::vector<ObjectPart> parts) {
  SavedObjects joined;
  const bool rooted = parts.size() > 1 || !parts.front().name.empty();
  if (rooted) add_object(joined, ObjectKind::kUserObject, plain_user_object());
  std::vector<Trackable::Reference> signatures;
  for (ObjectPart& part : parts) {
    std::vector<Trackable::Reference> own;
    if (const auto map = signature_map(part.objects)) own = part.objects.objects[*map].children;
    for (SavedObjects::Object& object : part.objects.objects) {
      if (object.kind != ObjectKind::kAsset || part.first_asset == 0) continue;
      object.content = with_asset_index(object.content, asset_index(object.content) + part.first_asset);
      object.changed = true;
    }
    const uint32_t root = append_saved_objects(joined, std::move(part.objects));
    if (rooted) add_child(joined.objects[0], part.name, root);
    for (const Trackable::Reference& signature : own) {
      const auto key = part.signature_keys.find(signature.name);
      signatures.push_back(
          {signature.id + root, key == part.signature_keys.end() ? signature.name : key->second});
    }
  }
  if (rooted) {
    const uint32_t map = make_signature_map(joined);
    for (const Trackable::Reference& signature : signatures)
      add_child(joined.objects[map], signature.name, signature.id);
  }
  return saved_objects_bytes(joined);
}

}  // namespace gedit
