#include "edit/objects/remaining.h"

#include "base/message_edit.h"

namespace gedit {
namespace {

bool stands_for_nothing(const SavedObjects::Object& object) {
  return object.kind == ObjectKind::kUserObject || object.kind == ObjectKind::kNone;
}

// Objects that are there for who captures or calls them, or for an optimizer.
std::vector<bool> named_objects(const SavedObjects& objects, const std::vector<bool>& alive,
                                const std::vector<bool>& function_stays) {
  std::vector<bool> named(objects.objects.size(), false);
  for (size_t i = 0; i < objects.functions.size(); ++i) {
    if (!function_stays[i]) continue;
    for (const uint32_t id : objects.functions[i].bound_inputs) named[id] = true;
  }
  for (size_t id = 0; id < named.size(); ++id) {
    const SavedObjects::Object& object = objects.objects[id];
    for (const Trackable::Slot& slot : object.slots) named[slot.slot] = true;
    if (!alive[id]) continue;
    for (const Trackable::Saveable& saveable : object.saveables)
      named[saveable.save] = named[saveable.restore] = true;
  }
  return named;
}

constexpr uint32_t kRegisteredName = 13, kUserProto = 14, kRegisteredSaver = 16;  // SavedObject

// What the class of that name would ask of the object is gone with what it stood for.
void make_plain(SavedObjects::Object& object) {
  for (const uint32_t field : {kRegisteredName, kUserProto, kRegisteredSaver})
    object.rest = without_field(object.rest, field);
  object.kind = ObjectKind::kUserObject;
  object.content = plain_user_object();
  object.saveables.clear();
  object.changed = true;
}

}  // namespace

std::vector<bool> remaining_objects(SavedObjects& objects, const std::vector<bool>& alive,
                                    const std::vector<bool>& function_stays) {
  const size_t count = objects.objects.size();
  std::vector<bool> lost(count, false), holds(count, false);
  for (size_t id = 0; id < count; ++id) {
    if (!stands_for_nothing(objects.objects[id])) (alive[id] ? holds : lost)[id] = true;
  }
  const ObjectLinks links = links_of(objects.objects, Leads::kByChildren);
  const std::vector<bool> leading = leading_on(links, lost, holds);
  const std::optional<uint32_t> map = signature_map(objects);
  std::vector<bool> stays = holds;
  for (size_t id = 0; id < count; ++id) {
    if (stands_for_nothing(objects.objects[id])) stays[id] = id == 0 || id == map || leading[id];
  }
  const std::vector<bool> before = reached_from_root(links, std::vector<bool>(count, true));
  std::vector<bool> reached = reached_from_root(links, stays);
  bool missing = false;
  for (size_t id = 0; id < count; ++id) missing = missing || (holds[id] && before[id] && !reached[id]);
  if (missing) {
    for (size_t id = 0; id < count; ++id) {
      if (stays[id] || !leading[id]) continue;
      make_plain(objects.objects[id]);
      stays[id] = true;
    }
    reached = reached_from_root(links, stays);
  }
  const std::vector<bool> named = named_objects(objects, alive, function_stays);
  for (size_t id = 0; id < count; ++id) stays[id] = stays[id] && (reached[id] || named[id] || !before[id]);
  return stays;
}

}  // namespace gedit
