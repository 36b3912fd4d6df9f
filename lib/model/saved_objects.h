// The object graph of a TF2 SavedModel (SavedObjectGraph), from which tf.saved_model.load makes Python
// objects: taken apart into plain structs, edited, put together again. What is not edited keeps its bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_index.h"
#include "checkpoint/object_tree.h"

namespace gedit {

// tensorflow/core/protobuf/saved_object_graph.proto.
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
  struct Object : Trackable {
    Kind kind = Kind::kNone;
    std::string content;  // the message of that kind: a SavedVariable, ...
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

  // The first of that name; nullptr where there is none. Goes over the functions once, and later over those
  // that came behind them; who renames or drops some gives all anew.
  Function* find_function(std::string_view name);
  void set_functions(std::vector<Function> all);

 private:
  HashIndex places_;  // of functions, as far as somebody looked for one
  size_t looked_at_ = 0;
};
using ObjectKind = SavedObjects::Kind;

// Views into `bytes`, which outlive it. Takes whatever is well formed; throws Malformed.
SavedObjects read_saved_objects(std::string_view bytes);
// Throws Error (kInput) where an object that is named is not there: what an edit calls first.
void check_saved_objects(const SavedObjects& objects);
std::string saved_objects_bytes(const SavedObjects& objects);

// Names of the concrete functions of a function object, its traces; none for other objects. Views into it.
std::vector<std::string_view> concrete_functions(const SavedObjects::Object& object);

// The place of a SavedAsset in asset_file_def.
uint64_t asset_index(std::string_view asset);
std::string with_asset_index(std::string_view asset, uint64_t index);

// append_objects() and keep_objects(), functions with them.
uint32_t append_saved_objects(SavedObjects& objects, SavedObjects more);
std::vector<uint32_t> keep_saved_objects(SavedObjects& objects, const std::vector<bool>& stays,
                                         const std::vector<bool>& function_stays);

uint32_t add_object(SavedObjects& objects, SavedObjects::Kind kind, std::string content);

// A user object without behaviour of its own, and the object that holds the signatures
// (python/saved_model/signature_serialization.py).
std::string plain_user_object();
std::optional<uint32_t> signature_map(const SavedObjects& objects);
uint32_t make_signature_map(SavedObjects& objects);  // the one that is there, or a new one

// By object, the checkpoint's key of its value: the shortest path from the root, children in their order
// (training/tracking/graph_view.py); a slot's is below the variable that it belongs to. Empty for what is no
// variable and for what the root does not reach.
std::vector<std::string> variable_keys(const SavedObjects& objects);

}  // namespace gedit
