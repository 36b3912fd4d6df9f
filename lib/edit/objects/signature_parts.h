// The signatures and the object graph of a MetaGraph while they are edited. Internal to gedit signature.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/map_entry.h"
#include "model/model.h"
#include "model/saved_objects.h"

namespace gedit {

namespace signature_field {  // SignatureDef
constexpr uint32_t kInput = 1, kOutput = 2, kMethod = 3, kDefault = 4;
}

// Keys that begin like this are TensorFlow's own: initialization and training.
constexpr std::string_view kReservedKeys = "__saved_model_";

// The signatures, each with its key; those that are not changed keep their bytes.
class SignatureDefs {
 public:
  explicit SignatureDefs(MetaGraph& meta);

  bool has(std::string_view key) const;
  std::string_view def(std::string_view key) const;  // empty where there is none
  // Throws Error (kRefused) where there is none of that key, or it is one of TensorFlow's own.
  void require(std::string_view key) const;

  void add(std::string_view key, std::string_view def);
  void remove(const std::set<std::string, std::less<>>& keys);
  // change(key, def) gives the new key and changes the def in place.
  template <typename Change>
  void change(Change change) {
    for (std::string& entry : entries_) {
      const MapEntry before = map_entry(entry);
      std::string def(before.value);
      const std::string key = change(std::string(before.key), def);
      if (key != before.key || def != before.value) entry = map_entry_bytes(key, def);
    }
    index();
  }
  void store();

 private:
  void index();

  MetaGraph& meta_;
  std::vector<std::string> entries_;
  std::map<std::string, size_t, std::less<>> places_;  // of each key the last
};

// The object graph, where the MetaGraph has one.
class ObjectsOfMeta {
 public:
  explicit ObjectsOfMeta(MetaGraph& meta);  // throws as check_saved_objects()

  SavedObjects* get() { return objects_ ? &*objects_ : nullptr; }
  void store();

 private:
  MetaGraph& meta_;
  std::optional<SavedObjects> objects_;
};

}  // namespace gedit
