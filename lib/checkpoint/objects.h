// The object graph of an object-based checkpoint (TrackableObjectGraph): which Python object each key belongs
// to. What is not edited keeps its bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "checkpoint/bundle.h"
#include "checkpoint/renaming.h"

namespace gedit {

struct ObjectGraph {
  struct Child {
    uint32_t id = 0;
    std::string name;  // local_name, as it stands in keys
    std::string bytes;
  };
  struct Attribute {
    std::string key;  // checkpoint_key
    std::string bytes;
  };
  struct SlotVariable {
    uint32_t original = 0, slot = 0;  // nodes: the variable, and the variable that is its slot
    std::string bytes;
  };
  struct Object {
    std::vector<Child> children;
    std::vector<Attribute> attributes;
    std::vector<SlotVariable> slots;
    std::string rest;  // the other fields, as they were
    std::string_view bytes;
    bool changed = false;
  };
  std::vector<Object> objects;  // 0 is the root
  std::string rest;             // unknown fields of the graph
};

// Throws Error (kInput) where it is malformed or names objects that are not there.
ObjectGraph parse_object_graph(std::string_view bytes);
std::string object_graph_bytes(const ObjectGraph& graph);

// A name of an object as it stands in keys: `.` is `..`, `/` is `.S`.
std::string escaped_name(std::string_view name);
std::string unescaped_name(std::string_view name);

// The object at each path in turn, made where it is missing: `child_of` gives the child of an object by its
// name as in paths, `make` a new one under it.
class PathMaker {
 public:
  // `paths` as object_paths() gives them.
  explicit PathMaker(const std::vector<std::string>& paths);

  template <typename ChildOf, typename Make>
  uint32_t at(std::string_view path, ChildOf child_of, Make make);
  // Notes an object of that path; false where there is one already.
  bool put(std::string_view path, uint32_t id) { return by_path_.emplace(path, id).second; }
  bool has(std::string_view path) const { return by_path_.contains(std::string(path)); }

 private:
  std::unordered_map<std::string, uint32_t> by_path_;
  std::unordered_set<uint32_t> made_;
};

// The path of each object: that by which TensorFlow finds it first (breadth first from the root), and from
// which keys are made. Empty for the root and for objects that are no one's child (slots).
std::vector<std::string> object_paths(const ObjectGraph& graph);

// The key or keys' path of `key` before `/.ATTRIBUTES/` and `/.OPTIMIZER_SLOT/`: the object; all of it where
// there is neither.
std::string_view object_path(std::string_view key);

// The serialized graph of an object-based checkpoint; and the way back, into a data file of its own.
std::string load_object_graph(const Checkpoint& checkpoint);
void store_object_graph(Checkpoint& checkpoint, const ObjectGraph& graph);

// Pairs whose OLD goes through a second name of an object are made to go through its first, as keys do.
void settle_paths(const ObjectGraph& graph, Renaming& renaming);

// Renames children along the paths; objects that change parents are moved, parents that are missing are made.
// Throws Error (kRefused) where a name is taken.
void rename_objects(ObjectGraph& graph, const Renaming& renaming);
// Attributes follow their keys.
void rename_keys(ObjectGraph& graph, const std::map<std::string, std::string, std::less<>>& renamed);

// Takes away the attributes with these keys, and then slot entries and objects that hold nothing any more.
// Ids keep their order, the root stays.
void drop_keys(ObjectGraph& graph, const std::set<std::string, std::less<>>& keys);

// The object of a value once more: the same attribute under another key, in an object at that key's path.
struct CopiedValue {
  std::string key, copy_key;
  std::string full_name;  // the variable's name in the graph; a table has none
};
// Objects on the way to a new one are made where they are missing; a key that belongs to no object is passed
// over. Throws Error (kRefused) where something is at a path already.
void copy_values(ObjectGraph& graph, const std::vector<CopiedValue>& values);

// A new root whose children are the roots of these graphs; keys are prefixed by `NAME/`.
ObjectGraph join_objects(const std::vector<std::pair<std::string, ObjectGraph>>& graphs);

// ---------------------------------------------------------------------------------------------------------------------

template <typename ChildOf, typename Make>
uint32_t PathMaker::at(std::string_view path, ChildOf child_of, Make make) {
  uint32_t parent = 0;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const auto [place, fresh] = by_path_.emplace(path.substr(0, end), 0);
    if (fresh) {
      const std::string_view name = path.substr(begin, end - begin);
      // The paths of what was made here are all known.
      const std::optional<uint32_t> there = made_.contains(parent) ? std::nullopt : child_of(parent, name);
      place->second = there ? *there : make(parent, name);
      if (!there) made_.insert(place->second);
    }
    parent = place->second;
    begin = end + 1;
  }
  return parent;
}

}  // namespace gedit
