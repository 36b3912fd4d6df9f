#include "model/saved_objects.h"

#include <algorithm>
#include <type_traits>

#include "base/error.h"
#include "base/map_entry.h"
#include "base/wire.h"
#include "checkpoint/objects.h"

namespace gedit {
namespace {

// Fields of SavedObject besides its kinds.
constexpr uint32_t kChild = 1, kSlotVariable = 3, kSaveable = 11, kDependency = 15;

bool is_kind(uint32_t field) {
  return (field >= static_cast<uint32_t>(ObjectKind::kUserObject) &&
          field <= static_cast<uint32_t>(ObjectKind::kResource)) ||
         field == static_cast<uint32_t>(ObjectKind::kCapturedTensor);
}

SavedObjects::Reference read_reference(std::string_view bytes) {
  SavedObjects::Reference reference;
  for (Fields fields(bytes); fields.next();) {
    if (fields->number == 1 && fields->wire == Wire::kVarint) {
      reference.id = static_cast<uint32_t>(fields->varint);
    } else if (fields->bytes(2)) {
      reference.name = fields->value;
    } else {
      reference.rest += fields->raw;
    }
  }
  return reference;
}

std::string reference_bytes(const SavedObjects::Reference& reference) {
  std::string bytes;
  if (reference.id != 0) append_varint_field(bytes, 1, reference.id);
  append_bytes_field(bytes, 2, reference.name);
  return bytes + reference.rest;
}

SavedObjects::Slot read_slot(std::string_view bytes) {
  SavedObjects::Slot slot;
  for (Fields fields(bytes); fields.next();) {
    if (fields->wire == Wire::kVarint && (fields->number == 1 || fields->number == 3)) {
      (fields->number == 1 ? slot.variable : slot.slot) = static_cast<uint32_t>(fields->varint);
    } else if (fields->bytes(2)) {
      slot.name = fields->value;
    } else {
      slot.rest += fields->raw;
    }
  }
  return slot;
}

std::string slot_bytes(const SavedObjects::Slot& slot) {
  std::string bytes;
  if (slot.variable != 0) append_varint_field(bytes, 1, slot.variable);
  append_bytes_field(bytes, 2, slot.name);
  if (slot.slot != 0) append_varint_field(bytes, 3, slot.slot);
  return bytes + slot.rest;
}

SavedObjects::Saveable read_saveable(std::string_view entry_bytes) {
  const MapEntry entry = map_entry(entry_bytes);
  SavedObjects::Saveable saveable;
  saveable.name = entry.key;
  for (Fields fields(entry.value); fields.next();) {
    if (fields->wire == Wire::kVarint && (fields->number == 2 || fields->number == 3)) {
      (fields->number == 2 ? saveable.save : saveable.restore) = static_cast<uint32_t>(fields->varint);
    } else {
      saveable.rest += fields->raw;
    }
  }
  return saveable;
}

std::string saveable_bytes(const SavedObjects::Saveable& saveable) {
  std::string value;
  if (saveable.save != 0) append_varint_field(value, 2, saveable.save);
  if (saveable.restore != 0) append_varint_field(value, 3, saveable.restore);
  return map_entry_bytes(saveable.name, value + saveable.rest);
}

SavedObjects::Object read_object(std::string_view bytes) {
  SavedObjects::Object object;
  object.bytes = bytes;
  for (Fields fields(bytes); fields.next();) {
    if (fields->bytes(kChild)) {
      object.children.push_back(read_reference(fields->value));
    } else if (fields->bytes(kDependency)) {
      object.dependencies.push_back(read_reference(fields->value));
    } else if (fields->bytes(kSlotVariable)) {
      object.slots.push_back(read_slot(fields->value));
    } else if (fields->bytes(kSaveable)) {
      object.saveables.push_back(read_saveable(fields->value));
    } else if (fields->wire == Wire::kBytes && is_kind(fields->number)) {
      object.kind = ObjectKind{fields->number};  // of several the last, as in a oneof
      object.content = fields->value;
    } else {
      object.rest += fields->raw;
    }
  }
  return object;
}

std::string object_bytes(const SavedObjects::Object& object) {
  std::string bytes;
  for (const auto& child : object.children) append_bytes_field(bytes, kChild, reference_bytes(child));
  for (const auto& slot : object.slots) append_bytes_field(bytes, kSlotVariable, slot_bytes(slot));
  if (object.kind != ObjectKind::kNone)
    append_bytes_field(bytes, static_cast<uint32_t>(object.kind), object.content);
  for (const auto& saveable : object.saveables)
    append_bytes_field(bytes, kSaveable, saveable_bytes(saveable));
  for (const auto& dependency : object.dependencies)
    append_bytes_field(bytes, kDependency, reference_bytes(dependency));
  return bytes + object.rest;
}

SavedObjects::Function read_function(std::string_view bytes) {
  const MapEntry entry = map_entry(bytes);
  SavedObjects::Function function;
  function.bytes = bytes;
  function.name = entry.key;
  for (Fields fields(entry.value); fields.next();) {
    if (fields->number == 2) {
      each_varint(fields.field(),
                  [&](uint64_t id) { function.bound_inputs.push_back(static_cast<uint32_t>(id)); });
    } else if (fields->bytes(3)) {
      function.input_signature = fields->value;
    } else if (fields->bytes(4)) {
      function.output_signature = fields->value;
    } else {
      function.rest += fields->raw;
    }
  }
  return function;
}

std::string function_bytes(const SavedObjects::Function& function) {
  std::string value;
  if (!function.bound_inputs.empty()) {
    std::string packed;
    for (const uint32_t id : function.bound_inputs) append_varint(packed, id);
    append_bytes_field(value, 2, packed);
  }
  append_bytes_field(value, 3, function.input_signature);
  append_bytes_field(value, 4, function.output_signature);
  return map_entry_bytes(function.name, value + function.rest);
}

// The paths of a checkpoint's object graph are made by the same rule.
ObjectGraph as_object_graph(const SavedObjects& objects) {
  ObjectGraph graph;
  graph.objects.resize(objects.objects.size());
  for (size_t i = 0; i < objects.objects.size(); ++i) {
    for (const auto& child : objects.objects[i].children) {
      if (child.id >= graph.objects.size()) continue;
      graph.objects[i].children.push_back({.id = child.id, .name = escaped_name(child.name), .bytes = {}});
    }
  }
  return graph;
}

}  // namespace

const SavedObjects::Function* SavedObjects::find_function(std::string_view name) const {
  const auto found = std::find_if(functions.begin(), functions.end(),
                                  [&](const Function& function) { return function.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

SavedObjects::Function* SavedObjects::find_function(std::string_view name) {
  return const_cast<Function*>(static_cast<const SavedObjects*>(this)->find_function(name));
}

SavedObjects read_saved_objects(std::string_view bytes) {
  SavedObjects objects;
  for (Fields fields(bytes); fields.next();) {
    if (fields->bytes(1)) {
      objects.objects.push_back(read_object(fields->value));
    } else if (fields->bytes(2)) {
      objects.functions.push_back(read_function(fields->value));
    } else {
      objects.rest += fields->raw;
    }
  }
  return objects;
}

void check_saved_objects(const SavedObjects& objects) {
  const size_t count = objects.objects.size();
  const auto wrong = [&](uint32_t id, const std::string& subject) {
    return Error(Cause::kInput,
                 "the object graph names object " + std::to_string(id) + " of " + std::to_string(count))
        .of(subject);
  };
  const auto each = [&](const auto& holder, auto use) {
    // each_id() hands out what may be changed; nothing is.
    each_id(const_cast<std::remove_cvref_t<decltype(holder)>&>(holder), use);
  };
  for (size_t i = 0; i < count; ++i) {
    each(objects.objects[i], [&](uint32_t id) {
      if (id >= count) throw wrong(id, "object " + std::to_string(i));
    });
  }
  for (const SavedObjects::Function& function : objects.functions) {
    each(function, [&](uint32_t id) {
      if (id >= count) throw wrong(id, quoted("function", function.name));
    });
  }
}

std::string saved_objects_bytes(const SavedObjects& objects) {
  std::string out;
  size_t size = objects.rest.size();
  for (const SavedObjects::Object& object : objects.objects)
    size += object.bytes.size() + object.content.size() / 8;
  for (const SavedObjects::Function& function : objects.functions) size += function.bytes.size();
  out.reserve(size + size / 8);
  for (const SavedObjects::Object& object : objects.objects) {
    if (object.changed) {
      append_bytes_field(out, 1, object_bytes(object));
    } else {
      append_bytes_field(out, 1, object.bytes);
    }
  }
  for (const SavedObjects::Function& function : objects.functions) {
    if (function.changed) {
      append_bytes_field(out, 2, function_bytes(function));
    } else {
      append_bytes_field(out, 2, function.bytes);
    }
  }
  out += objects.rest;
  return out;
}

std::optional<uint32_t> child_of(const SavedObjects& objects, uint32_t parent, std::string_view name) {
  for (const auto& child : objects.objects[parent].children) {
    if (child.name == name) return child.id;
  }
  return std::nullopt;
}

void add_child(SavedObjects& objects, uint32_t parent, std::string_view name, uint32_t id) {
  objects.objects[parent].children.push_back({.id = id, .name = std::string(name)});
  objects.objects[parent].changed = true;
}

uint32_t add_object(SavedObjects& objects, ObjectKind kind, std::string content) {
  SavedObjects::Object& object = objects.objects.emplace_back();
  object.kind = kind;
  object.content = std::move(content);
  object.changed = true;
  return static_cast<uint32_t>(objects.objects.size() - 1);
}

namespace {

std::string user_object(std::string_view identifier) {
  std::string version;  // VersionDef
  append_varint_field(version, 1, 1);
  append_varint_field(version, 2, 1);
  std::string bytes;
  append_bytes_field(bytes, 1, identifier);
  append_bytes_field(bytes, 2, version);
  return bytes;
}

constexpr std::string_view kSignatures = "signatures";

}  // namespace

std::string plain_user_object() { return user_object("_generic_user_object"); }

std::optional<uint32_t> signature_map(const SavedObjects& objects) {
  if (objects.objects.empty()) return std::nullopt;
  return child_of(objects, 0, kSignatures);
}

uint32_t make_signature_map(SavedObjects& objects) {
  if (const auto found = signature_map(objects)) return *found;
  const uint32_t id = add_object(objects, ObjectKind::kUserObject, user_object("signature_map"));
  add_child(objects, 0, kSignatures, id);
  return id;
}

std::vector<std::string> saved_object_paths(const SavedObjects& objects) {
  if (objects.objects.empty()) return {};
  return object_paths(as_object_graph(objects));
}

std::vector<std::string> variable_keys(const SavedObjects& objects) {
  const size_t count = objects.objects.size();
  std::vector<std::string> keys(count);
  if (count == 0) return keys;
  const std::vector<std::string> paths = saved_object_paths(objects);
  std::vector<std::string> places(count);
  for (size_t i = 0; i < count; ++i) places[i] = paths[i].empty() ? "" : paths[i] + "/";
  for (size_t i = 0; i < count; ++i) {
    for (const SavedObjects::Slot& slot : objects.objects[i].slots) {
      if (slot.variable >= count || slot.slot >= count) continue;
      places[slot.slot] =
          places[slot.variable] + ".OPTIMIZER_SLOT/" + places[i] + escaped_name(slot.name) + "/";
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (objects.objects[i].kind == ObjectKind::kVariable && !places[i].empty())
      keys[i] = places[i] + ".ATTRIBUTES/VARIABLE_VALUE";
  }
  return keys;
}

}  // namespace gedit
