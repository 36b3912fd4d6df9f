// The object graph of an object-based checkpoint (TrackableObjectGraph): which Python object each key belongs
// to. What is not edited keeps its bytes. docs/rules.md#checkpoint-object-based-checkpoints
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/bundle.h"
#include "checkpoint/object_tree.h"

namespace gedit {

struct ObjectGraph {
  struct Attribute {  // SerializedTensor
    std::string full_name, key;
    std::string_view bytes = {};  // as it was read
  };
  struct Object : Trackable {
    std::vector<Attribute> attributes;
  };
  std::vector<Object> objects;
  std::string rest;  // unknown fields of the graph
};

// Views into `bytes`, which outlive it. Throws Error (kInput) where it is malformed or names objects that are
// not there.
ObjectGraph parse_object_graph(std::string_view bytes);
std::string object_graph_bytes(const ObjectGraph& graph);

// The key or keys' path of `key` before `/.ATTRIBUTES/` and `/.OPTIMIZER_SLOT/`: the object; all of it where
// there is neither.
std::string_view object_path(std::string_view key);

// The serialized graph of an object-based checkpoint; and the way back, into a data file of its own.
std::string load_object_graph(const Checkpoint& checkpoint);
void store_object_graph(Checkpoint& checkpoint, const std::string& bytes);

}  // namespace gedit
