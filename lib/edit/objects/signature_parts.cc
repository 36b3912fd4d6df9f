#include "edit/objects/signature_parts.h"

#include <algorithm>

#include "base/error.h"
#include "base/near.h"

namespace gedit {

SignatureDefs::SignatureDefs(MetaGraph& meta) : meta_(meta) {
  for (const std::string_view bytes : meta.parts_of(meta_field::kSignature)) entries_.emplace_back(bytes);
  index();
}

void SignatureDefs::index() {
  places_.clear();
  for (size_t i = 0; i < entries_.size(); ++i)
    places_.insert_or_assign(std::string(map_entry(entries_[i]).key), i);
}

bool SignatureDefs::has(std::string_view key) const { return places_.contains(key); }

std::string_view SignatureDefs::def(std::string_view key) const {
  const auto found = places_.find(key);
  return found == places_.end() ? std::string_view() : map_entry(entries_[found->second]).value;
}

void SignatureDefs::require(std::string_view key) const {
  const auto refused = [&](const char* message) {
    return Error(Cause::kRefused, message).of(quoted("signature", key));
  };
  if (key.starts_with(kReservedKeys)) throw refused("is TensorFlow's own");
  if (has(key)) return;
  Near near(key);
  for (const std::string& entry : entries_) {
    if (!map_entry(entry).key.starts_with(kReservedKeys)) near.offer(map_entry(entry).key);
  }
  throw refused("no such signature").hint(near.did_you_mean_or_all());
}

void SignatureDefs::add(std::string_view key, std::string_view def) {
  places_.insert_or_assign(std::string(key), entries_.size());
  entries_.push_back(map_entry_bytes(key, def));
}

void SignatureDefs::remove(const std::set<std::string, std::less<>>& keys) {
  std::erase_if(entries_, [&](const std::string& entry) { return keys.contains(map_entry(entry).key); });
  index();
}

void SignatureDefs::store() { meta_.set_parts(meta_field::kSignature, entries_); }

ObjectsOfMeta::ObjectsOfMeta(MetaGraph& meta) : meta_(meta) {
  if (!meta.has(meta_field::kObjectGraph)) return;
  SavedObjects objects = read_saved_objects(meta.part(meta_field::kObjectGraph));
  if (objects.objects.empty()) return;
  check_saved_objects(objects);
  objects_ = std::move(objects);
}

void ObjectsOfMeta::store() {
  if (objects_) meta_.set_part(meta_field::kObjectGraph, saved_objects_bytes(*objects_));
}

}  // namespace gedit
