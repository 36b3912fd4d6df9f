// Objects that refer to each other by id, as TensorFlow 2 saves them: what a SavedObjectGraph
// (saved_model.pb) and a TrackableObjectGraph (checkpoints) have in common, and whatever is done to ids and
// paths. Each of the two is a vector of such objects, which hold something more: model/saved_objects.h,
// checkpoint/objects.h. docs/tensorflow.md#object-graph
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace gedit {

// Ids are positions in the vector; 0 is the root.
struct Trackable {
  struct Reference {
    uint32_t id = 0;
    std::string name = {};        // local_name
    std::string rest = {};        // other fields
    std::string_view bytes = {};  // as it was read
  };
  struct Slot {  // a slot variable of an optimizer, in the optimizer
    uint32_t variable = 0, slot = 0;
    std::string name = {}, rest = {};
    std::string_view bytes = {};
  };
  struct Saveable {  // functions that save and restore the object
    std::string name;
    uint32_t save = 0, restore = 0;
    std::string rest = {};
  };
  std::vector<Reference> children;
  std::vector<Slot> slots;
  std::vector<Reference> dependencies;  // in a SavedObjectGraph alone, as are saveables
  std::vector<Saveable> saveables;
  std::string rest;             // fields that have no place here, as they were
  std::string_view bytes = {};  // as it was read
  bool changed = false;         // whoever edits it says so; else `bytes` are written
};

// Views into `bytes`, which outlive them.
Trackable::Reference read_reference(std::string_view bytes);
Trackable::Slot read_slot(std::string_view bytes);

enum class Written : uint8_t {
  kAnew,    // fields in the order of their numbers, then the rest
  kMended,  // as it was read, but for numbers and names that are others now
};
std::string reference_bytes(const Trackable::Reference& reference, Written how);
std::string slot_bytes(const Trackable::Slot& slot, Written how);

// The message with another text as field `number`, which stands where it stood, else at the end.
std::string with_text(std::string_view message, uint32_t number, std::string_view value);

// The objects of either form, to be read; valid as long as the vector stays as it is.
class Trackables {
 public:
  template <std::derived_from<Trackable> Object>
  Trackables(const std::vector<Object>& objects) {
    all_.reserve(objects.size());
    for (const Object& object : objects) all_.push_back(&object);
  }
  size_t size() const { return all_.size(); }
  const Trackable& operator[](size_t id) const { return *all_[id]; }

 private:
  std::vector<const Trackable*> all_;
};

// Calls use(id) for every id that the object holds; use may change it, and then sets `changed`.
template <typename Object, typename Use>
requires std::derived_from<std::remove_const_t<Object>, Trackable>
void each_id(Object& object, Use use);

struct BadReference {
  uint32_t object = 0, id = 0;
};
// The first id that is no object's.
std::optional<BadReference> find_bad_reference(const Trackables& objects);

std::optional<uint32_t> child_of(const Trackable& object, std::string_view name);
void add_child(Trackable& parent, std::string_view name, uint32_t id);

// ---------------------------------------------------------------------------------------------------- paths

// A name of an object as it stands in paths and keys: `.` is `..`, `/` is `.S`.
std::string escaped_name(std::string_view name);
std::string unescaped_name(std::string_view name);

std::string joined_path(std::string_view parent, std::string_view name);
std::string_view parent_path(std::string_view path);  // empty: the root
std::string_view last_of_path(std::string_view path);

// The path of each object: that by which TensorFlow finds it first (breadth first from the root), and from
// which keys are made. Empty for the root and for objects that are no one's child (slots). Throws Error
// (kInput) where all of them take more than 64 MiB.
std::vector<std::string> object_paths(const Trackables& objects);

// Other paths of objects than those that keys are made of: that begin with another child of the root.
class OtherPaths {
 public:
  // The objects outlive it. Two looks at each reference.
  explicit OtherPaths(Trackables objects);

  // A short one from another child of the root than `path`, and over no third one: a model has its optimizer.
  // Empty where there is none.
  std::string of(uint32_t id, std::string_view path) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Way {               // by which an object is found: its last reference
    uint32_t first = kNone;  // the child of the root
    uint32_t parent = 0;
    const std::string* name = nullptr;
  };
  Trackables objects_;
  std::unordered_map<std::string, uint32_t> firsts_;  // children of the root, by escaped name
  std::vector<std::array<Way, 2>> ways_;              // by object, from two of these
};

// Objects by any path that leads to them. Children are kept by name where a path came by, so that many paths
// cost what the objects on them cost.
class ObjectFinder {
 public:
  // The objects outlive it.
  explicit ObjectFinder(Trackables objects) : objects_(std::move(objects)) {}

  // The root for an empty path.
  std::optional<uint32_t> find(std::string_view path);

 private:
  Trackables objects_;
  std::unordered_map<uint32_t, std::unordered_map<std::string, uint32_t>>
      children_;  // by object, escaped name
};

// The object at each path in turn, made where it is missing.
class PathMaker {
 public:
  // `paths` as object_paths() gives them.
  explicit PathMaker(const std::vector<std::string>& paths);

  // find(parent, name) gives the child that has this local_name, if any; make(parent, name) adds one.
  template <typename Find, typename Make>
  uint32_t at(std::string_view path, Find find, Make make);
  // Notes an object of that path; false where there is one already.
  bool put(std::string_view path, uint32_t id) { return by_path_.emplace(path, id).second; }
  bool has(std::string_view path) const { return by_path_.contains(std::string(path)); }

 private:
  std::unordered_map<std::string, uint32_t> by_path_;
  std::unordered_set<uint32_t> made_;
};

// ---------------------------------------------------------------------------------------------------- reach

// By object, the ids to which it leads.
using ObjectLinks = std::vector<std::vector<uint32_t>>;

enum class Leads : uint8_t { kByChildren, kByChildrenAndSlots };
ObjectLinks links_of(const Trackables& objects, Leads leads);

// The objects to which the root leads, over such as are in `through`.
std::vector<bool> reached_from_root(const ObjectLinks& links, const std::vector<bool>& through);

// False for an object that leads to, or is, one of the `lost`, unless it leads to one that `holds` something.
std::vector<bool> leading_on(const ObjectLinks& links, const std::vector<bool>& lost,
                             const std::vector<bool>& holds);

// ---------------------------------------------------------------------------------------------------- edits

// Takes away the objects that do not stay, and what refers to them; the others move up. Gives the new ids, by
// old id, of those that stay.
template <std::derived_from<Trackable> Object>
std::vector<uint32_t> keep_objects(std::vector<Object>& objects, const std::vector<bool>& stays);

// Puts the objects behind those that are there; gives the number by which their ids grow.
template <std::derived_from<Trackable> Object>
uint32_t append_objects(std::vector<Object>& objects, std::vector<Object> more);

// The object once more, which refers to what the original refers to; nothing refers to it yet.
template <std::derived_from<Trackable> Object>
uint32_t copy_object(std::vector<Object>& objects, uint32_t id);

// ---------------------------------------------------------------------------------------------------------------------

namespace object_tree {
std::vector<uint32_t> new_ids(const std::vector<bool>& stays);
void mend(Trackable& object, const std::vector<bool>& stays, const std::vector<uint32_t>& ids);
}  // namespace object_tree

template <typename Object, typename Use>
requires std::derived_from<std::remove_const_t<Object>, Trackable>
void each_id(Object& object, Use use) {
  for (auto& child : object.children) use(child.id);
  for (auto& dependency : object.dependencies) use(dependency.id);
  for (auto& slot : object.slots) {
    use(slot.variable);
    use(slot.slot);
  }
  for (auto& saveable : object.saveables) {
    use(saveable.save);
    use(saveable.restore);
  }
}

template <typename Find, typename Make>
uint32_t PathMaker::at(std::string_view path, Find find, Make make) {
  uint32_t parent = 0;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', std::max<size_t>(begin, 1)), path.size());
    const auto [place, fresh] = by_path_.emplace(path.substr(0, end), 0);
    if (fresh) {
      const std::string name = unescaped_name(last_of_path(path.substr(0, end)));
      // The paths of what was made here are all known.
      const std::optional<uint32_t> there = made_.contains(parent) ? std::nullopt : find(parent, name);
      place->second = there ? *there : make(parent, name);
      if (!there) made_.insert(place->second);
    }
    parent = place->second;
    begin = end + 1;
  }
  return parent;
}

template <std::derived_from<Trackable> Object>
std::vector<uint32_t> keep_objects(std::vector<Object>& objects, const std::vector<bool>& stays) {
  std::vector<uint32_t> ids = object_tree::new_ids(stays);
  std::vector<Object> kept;
  for (size_t id = 0; id < objects.size(); ++id) {
    if (!stays[id]) continue;
    object_tree::mend(objects[id], stays, ids);
    kept.push_back(std::move(objects[id]));
  }
  objects = std::move(kept);
  return ids;
}

template <std::derived_from<Trackable> Object>
uint32_t append_objects(std::vector<Object>& objects, std::vector<Object> more) {
  const auto shift = static_cast<uint32_t>(objects.size());
  for (Object& object : more) {
    each_id(object, [&](uint32_t& id) { id += shift; });
    object.changed = object.changed || shift != 0;
    objects.push_back(std::move(object));
  }
  return shift;
}

template <std::derived_from<Trackable> Object>
uint32_t copy_object(std::vector<Object>& objects, uint32_t id) {
  Object copy = objects[id];
  copy.changed = true;
  objects.push_back(std::move(copy));
  return static_cast<uint32_t>(objects.size() - 1);
}

}  // namespace gedit
