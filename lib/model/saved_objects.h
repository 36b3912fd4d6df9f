// The object graph of a TF2 SavedModel (SavedObjectGraph), from which tf.saved_model.load makes Python
// objects: taken apart into plain structs, edited, put together again. What is not edited keeps its bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gedit {

// tensorflow/core/protobuf/saved_object_graph.proto. Ids are positions in `objects`; 0 is the root.
struct SavedObjects {
  enum class Kind : uint32_t {  // the field of SavedObject that holds the message
    kNone = 0,
    kUserObject = 4,
    kAsset = 5,
    kFunction = 6,
    kVariable = 7,
    kBareFunction = 8,
    kConstant = 9,
    kResource = 10,
    kCapturedTensor = 12,
  };
  struct Reference {
    uint32_t id = 0;
    std::string name = {};  // local_name
    std::string rest = {};  // other fields
  };
  struct Slot {  // a slot variable of an optimizer
    uint32_t variable = 0, slot = 0;
    std::string name = {}, rest = {};
  };
  struct Saveable {  // functions that save and restore the object
    std::string name;
    uint32_t save = 0, restore = 0;
    std::string rest = {};
  };
  struct Object {
    std::vector<Reference> children, dependencies;
    std::vector<Slot> slots;
    std::vector<Saveable> saveables;
    Kind kind = Kind::kNone;
    std::string content;          // the message of that kind: a SavedVariable, ...
    std::string rest;             // the other fields, as they were
    std::string_view bytes = {};  // as it was read
    bool changed = false;         // whoever edits it says so; else `bytes` are written
  };
  struct Function {  // an entry of concrete_functions; a body is in the library under the same name
    std::string name;
    std::vector<uint32_t> bound_inputs;             // objects that it captures: its last arguments
    std::string input_signature, output_signature;  // StructuredValues
    std::string rest;
    std::string_view bytes = {};
    bool changed = false;
  };

  std::vector<Object> objects;
  std::vector<Function> functions;
  std::string rest;  // unknown fields

  const Function* find_function(std::string_view name) const;
  Function* find_function(std::string_view name);
};
using ObjectKind = SavedObjects::Kind;

// Views into `bytes`, which outlive it. Takes whatever is well formed; throws Malformed.
SavedObjects read_saved_objects(std::string_view bytes);
// Throws Error (kInput) where an object that is named is not there: what an edit calls first.
void check_saved_objects(const SavedObjects& objects);
std::string saved_objects_bytes(const SavedObjects& objects);

// Calls use(uint32_t&) for every id that the object or function holds; who changes one sets `changed`.
template <typename Use>
void each_id(SavedObjects::Object& object, Use use);
template <typename Use>
void each_id(SavedObjects::Function& function, Use use);

std::optional<uint32_t> child_of(const SavedObjects& objects, uint32_t parent, std::string_view name);
void add_child(SavedObjects& objects, uint32_t parent, std::string_view name, uint32_t id);
uint32_t add_object(SavedObjects& objects, SavedObjects::Kind kind, std::string content);

// A user object without behaviour of its own, and the object that holds the signatures
// (python/saved_model/signature_serialization.py).
std::string plain_user_object();
std::optional<uint32_t> signature_map(const SavedObjects& objects);
uint32_t make_signature_map(SavedObjects& objects);  // the one that is there, or a new one

// The path of each object, as object_paths() in checkpoint/objects.h has it.
std::vector<std::string> saved_object_paths(const SavedObjects& objects);

// By object, the checkpoint's key of its value: the shortest path from the root, children in their order
// (training/tracking/graph_view.py); a slot's is below the variable that it belongs to. Empty for what is no
// variable and for what the root does not reach.
std::vector<std::string> variable_keys(const SavedObjects& objects);

// ---------------------------------------------------------------------------------------------------------------------

template <typename Use>
void each_id(SavedObjects::Object& object, Use use) {
  for (SavedObjects::Reference& child : object.children) use(child.id);
  for (SavedObjects::Reference& dependency : object.dependencies) use(dependency.id);
  for (SavedObjects::Slot& slot : object.slots) {
    use(slot.variable);
    use(slot.slot);
  }
  for (SavedObjects::Saveable& saveable : object.saveables) {
    use(saveable.save);
    use(saveable.restore);
  }
}

template <typename Use>
void each_id(SavedObjects::Function& function, Use use) {
  for (uint32_t& id : function.bound_inputs) use(id);
}

}  // namespace gedit
