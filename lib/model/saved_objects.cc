#include "model/saved_objects.h"

#include <algorithm>

#include "base/error.h"
#include "base/map_entry.h"
#include "base/wire.h"
#include "graph/name_hash.h"

namespace gedit {
namespace {

// Fields of SavedObject besides its kinds.
constexpr uint32_t kChild = 1, kSlotVariable = 3, kSaveable = 11, kDependency = 15;
constexpr uint32_t kAssetIndex = 1;  // SavedAsset.asset_file_def_index

bool is_kind(uint32_t field) {
  return (field >= static_cast<uint32_t>(ObjectKind::kUserObject) &&
          field <= static_cast<uint32_t>(ObjectKind::kResource)) ||
         field == static_cast<uint32_t>(ObjectKind::kCapturedTensor);
}

Trackable::Saveable read_saveable(std::string_view entry_bytes) {
  const MapEntry entry = map_entry(entry_bytes);
  Trackable::Saveable saveable;
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

std::string saveable_bytes(const Trackable::Saveable& saveable) {
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
  for (const auto& child : object.children)
    append_bytes_field(bytes, kChild, reference_bytes(child, Written::kAnew));
  for (const auto& slot : object.slots)
    append_bytes_field(bytes, kSlotVariable, slot_bytes(slot, Written::kAnew));
  if (object.kind != ObjectKind::kNone)
    append_bytes_field(bytes, static_cast<uint32_t>(object.kind), object.content);
  for (const auto& saveable : object.saveables)
    append_bytes_field(bytes, kSaveable, saveable_bytes(saveable));
  for (const auto& dependency : object.dependencies)
    append_bytes_field(bytes, kDependency, reference_bytes(dependency, Written::kAnew));
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

}  // namespace

SavedObjects::Function* SavedObjects::find_function(std::string_view name) {
  const auto place_of = [&](std::string_view wanted, uint64_t hash) {
    return places_.find(hash, [&](uint32_t place) { return functions[place].name == wanted; });
  };
  for (; looked_at_ < functions.size(); ++looked_at_) {
    const std::string& next = functions[looked_at_].name;
    const uint64_t hash = name_hash(next);
    if (place_of(next, hash) == HashIndex::kNone) places_.add(hash, static_cast<uint32_t>(looked_at_));
  }
  const uint32_t place = place_of(name, name_hash(name));
  return place == HashIndex::kNone ? nullptr : &functions[place];
}

void SavedObjects::set_functions(std::vector<Function> all) {
  functions = std::move(all);
  places_ = {};
  looked_at_ = 0;
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
  const auto check = [&](uint32_t id, const auto& subject) {
    if (id < count) return;
    throw Error(Cause::kInput,
                "the object graph names object " + std::to_string(id) + " of " + std::to_string(count))
        .of(subject());
  };
  if (const auto bad = find_bad_reference(objects.objects))
    check(bad->id, [&] { return "object " + std::to_string(bad->object); });
  for (const SavedObjects::Function& function : objects.functions) {
    for (const uint32_t id : function.bound_inputs)
      check(id, [&] { return quoted("function", function.name); });
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

std::vector<std::string_view> concrete_functions(const SavedObjects::Object& object) {
  std::vector<std::string_view> names;
  if (object.kind != ObjectKind::kFunction && object.kind != ObjectKind::kBareFunction) return names;
  for (Fields fields(object.content); fields.next();) {
    if (fields->bytes(1)) names.push_back(fields->value);
  }
  return names;
}

uint64_t asset_index(std::string_view asset) { return last_varint(asset, kAssetIndex); }

std::string with_asset_index(std::string_view asset, uint64_t index) {
  std::string out;
  if (index != 0) append_varint_field(out, kAssetIndex, index);
  for (Fields fields(asset); fields.next();) {
    if (fields->number != kAssetIndex) out += fields->raw;
  }
  return out;
}

uint32_t append_saved_objects(SavedObjects& objects, SavedObjects more) {
  const uint32_t shift = append_objects(objects.objects, std::move(more.objects));
  for (SavedObjects::Function& function : more.functions) {
    for (uint32_t& id : function.bound_inputs) id += shift;
    function.changed = function.changed || shift != 0;
    objects.functions.push_back(std::move(function));
  }
  objects.rest += more.rest;
  return shift;
}

std::vector<uint32_t> keep_saved_objects(SavedObjects& objects, const std::vector<bool>& stays,
                                         const std::vector<bool>& function_stays) {
  std::vector<uint32_t> ids = keep_objects(objects.objects, stays);
  std::vector<SavedObjects::Function> kept;
  for (size_t i = 0; i < objects.functions.size(); ++i) {
    if (!function_stays[i]) continue;
    SavedObjects::Function& function = kept.emplace_back(std::move(objects.functions[i]));
    for (uint32_t& id : function.bound_inputs) {
      function.changed = function.changed || ids[id] != id;
      id = ids[id];
    }
  }
  objects.set_functions(std::move(kept));
  return ids;
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

constexpr size_t kMostKeyBytes = size_t{256} << 20;  // of slots, all together

constexpr std::string_view kSignatures = "signatures";

}  // namespace

std::string plain_user_object() { return user_object("_generic_user_object"); }

std::optional<uint32_t> signature_map(const SavedObjects& objects) {
  if (objects.objects.empty()) return std::nullopt;
  return child_of(objects.objects[0], kSignatures);
}

uint32_t make_signature_map(SavedObjects& objects) {
  if (const auto found = signature_map(objects)) return *found;
  const uint32_t id = add_object(objects, ObjectKind::kUserObject, user_object("signature_map"));
  add_child(objects.objects[0], kSignatures, id);
  return id;
}

std::vector<std::string> variable_keys(const SavedObjects& objects) {
  const size_t count = objects.objects.size();
  std::vector<std::string> keys(count);
  if (count == 0) return keys;
  const std::vector<std::string> paths = object_paths(objects.objects);
  std::vector<std::string> places(count);
  for (size_t i = 0; i < count; ++i) places[i] = paths[i].empty() ? "" : paths[i] + "/";
  // Both are objects with a path: no slot has slots (python/checkpoint/util.py, serialize_slot_variables).
  const auto append = [&](uint32_t id, std::string& out) {
    out += paths[id];
    if (!paths[id].empty()) out += '/';
  };
  size_t bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    for (const Trackable::Slot& slot : objects.objects[i].slots) {
      if (slot.variable >= count || slot.slot >= count) continue;
      std::string& place = places[slot.slot];
      place.clear();
      append(slot.variable, place);
      place += ".OPTIMIZER_SLOT/";
      append(i, place);
      place += escaped_name(slot.name) + "/";
      bytes += place.size();
      if (bytes > kMostKeyBytes) throw Error(Cause::kInput, "keys are too long").of("object graph");
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (objects.objects[i].kind == ObjectKind::kVariable && !places[i].empty())
      keys[i] = places[i] + ".ATTRIBUTES/VARIABLE_VALUE";
  }
  return keys;
}

}  // namespace gedit
