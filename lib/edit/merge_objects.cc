// Ids are positions in the list of objects: a part's move by the number of objects before it, and nothing
// else in its bytes changes.
#include "edit/merge_objects.h"

#include <span>

#include "base/wire.h"
#include "graph/node.h"

namespace gedit {
namespace {

// saved_object_graph.proto
constexpr uint32_t kObject = 1, kConcreteFunction = 2;                  // SavedObjectGraph
constexpr uint32_t kChild = 1, kSlot = 3, kUserObject = 4, kAsset = 5;  // SavedObject
constexpr uint32_t kSaveable = 11, kDependency = 15;
constexpr std::string_view kSignatures = "signatures";

// The varint fields `numbers` of the message, which are 0 where they are not there, grow by `shift`.
std::string shifted(std::string_view message, std::span<const uint32_t> numbers, uint32_t shift) {
  std::string out;
  uint32_t seen = 0;
  for (Fields fields(message); fields.next();) {
    bool ours = false;
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (fields->number != numbers[i] || fields->wire != Wire::kVarint) continue;
      ours = true;
      seen |= 1U << i;
    }
    if (ours) {
      append_varint_field(out, fields->number, fields->varint + shift);
    } else {
      out += fields->raw;
    }
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    if ((seen >> i & 1U) == 0 && shift != 0) append_varint_field(out, numbers[i], shift);
  }
  return out;
}

std::string shifted_object(std::string_view object, uint32_t shift, uint32_t assets) {
  constexpr uint32_t kId[] = {1}, kSlotIds[] = {1, 3}, kFunctionIds[] = {2, 3};
  std::string out;
  for (Fields fields(object); fields.next();) {
    if (fields->bytes(kChild) || fields->bytes(kDependency)) {
      append_bytes_field(out, fields->number, shifted(fields->value, kId, shift));
    } else if (fields->bytes(kSlot)) {
      append_bytes_field(out, kSlot, shifted(fields->value, kSlotIds, shift));
    } else if (fields->bytes(kSaveable)) {
      const MapEntry entry = map_entry(fields->value);
      std::string mapped;
      append_bytes_field(mapped, 1, entry.key);
      append_bytes_field(mapped, 2, shifted(entry.value, kFunctionIds, shift));
      append_bytes_field(out, kSaveable, mapped);
    } else if (fields->bytes(kAsset)) {
      append_bytes_field(out, kAsset, shifted(fields->value, kId, assets));
    } else {
      out += fields->raw;
    }
  }
  return out;
}

// An entry of concrete_functions: bound_inputs are objects.
std::string shifted_function(std::string_view bytes, uint32_t shift) {
  constexpr uint32_t kBoundInputs = 2;
  const MapEntry entry = map_entry(bytes);
  std::string function, packed;
  for (Fields fields(entry.value); fields.next();) {
    if (fields->number == kBoundInputs) {
      each_varint(fields.field(), [&](uint64_t id) { append_varint(packed, id + shift); });
    } else {
      function += fields->raw;
    }
  }
  std::string inputs;
  if (!packed.empty()) append_bytes_field(inputs, kBoundInputs, packed);
  std::string mapped;
  append_bytes_field(mapped, 1, entry.key);
  append_bytes_field(mapped, 2, inputs + function);
  return mapped;
}

std::string child(std::string_view name, uint64_t id) {
  std::string reference, field;
  append_varint_field(reference, 1, id);
  append_bytes_field(reference, 2, name);
  append_bytes_field(field, kChild, reference);
  return field;
}

// A user object of version 1, as TensorFlow writes its own.
std::string user_object(std::string_view identifier) {
  std::string version, object, field;
  append_varint_field(version, 1, 1);
  append_varint_field(version, 2, 1);
  append_bytes_field(object, 1, identifier);
  append_bytes_field(object, 2, version);
  append_bytes_field(field, kUserObject, object);
  return field;
}

struct Reference {
  std::string_view name;
  uint64_t id;
};

std::vector<Reference> children(std::string_view object) {
  std::vector<Reference> found;
  for (Fields fields(object); fields.next();) {
    if (fields->bytes(kChild)) found.push_back({last_bytes(fields->value, 2), last_varint(fields->value, 1)});
  }
  return found;
}

}  // namespace

std::string join_saved_objects(const std::vector<ObjectPart>& parts) {
  const bool rooted = parts.size() > 1 || !parts.front().name.empty();
  std::string objects, functions, rest, root, signatures;
  uint32_t shift = rooted ? 1 : 0;
  for (const ObjectPart& part : parts) {
    std::vector<std::string_view> own;
    for (Fields fields(part.object_graph); fields.next();) {
      if (fields->bytes(kObject)) {
        own.push_back(fields->value);
        append_bytes_field(objects, kObject, shifted_object(fields->value, shift, part.first_asset));
      } else if (fields->bytes(kConcreteFunction)) {
        append_bytes_field(functions, kConcreteFunction, shifted_function(fields->value, shift));
      } else {
        rest += fields->raw;
      }
    }
    root += child(part.name, shift);
    const std::vector<Reference> of_root = own.empty() ? std::vector<Reference>() : children(own.front());
    for (const Reference& one : of_root) {
      if (one.name != kSignatures || one.id >= own.size()) continue;
      for (const Reference& signature : children(own[one.id])) {
        const auto key = part.signature_keys.find(std::string(signature.name));
        signatures += child(key == part.signature_keys.end() ? signature.name : std::string_view(key->second),
                            signature.id + shift);
      }
    }
    shift += static_cast<uint32_t>(own.size());
  }
  if (!rooted) return objects + functions + rest;
  std::string out;
  append_bytes_field(out, kObject, root + child(kSignatures, shift) + user_object("_generic_user_object"));
  out += objects;
  append_bytes_field(out, kObject, signatures + user_object("signature_map"));
  return out + functions + rest;
}

std::vector<std::string_view> functions_of_objects(std::string_view object_graph) {
  std::vector<std::string_view> names;
  for (Fields fields(object_graph); fields.next();) {
    if (fields->bytes(kConcreteFunction)) names.push_back(map_entry(fields->value).key);
  }
  return names;
}

}  // namespace gedit
