// The object graph of an object-based checkpoint (TrackableObjectGraph): which Python object each key belongs
// to. What is not edited keeps its bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
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

// A new root whose children are the roots of these graphs; keys are prefixed by `NAME/`.
ObjectGraph join_objects(const std::vector<std::pair<std::string, ObjectGraph>>& graphs);

}  // namespace gedit
