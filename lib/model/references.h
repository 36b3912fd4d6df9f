// The table of names around a graph: which fields of the messages in a MetaGraphDef hold the name of a node,
// a tensor, a function (docs/tensorflow.md#messages-that-hold-names). Together with
// graph/references.h it is the whole table.
//
// A message is rewritten by its schema field by field; what the schema does not name is copied verbatim, so
// unknown fields and the order of map entries stay.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gedit {

enum class NameKind : uint8_t {
  kNode,      // a node or a tensor: `x`, `x:0`; `^x` in node lists
  kContext,   // context_name: a frame, by convention named like a scope
  kVariable,  // a variable by its checkpoint's name: SaveSliceInfoDef.full_name, SavedVariable.name
  kFunction,
};

struct Schema;

// How one field is treated.
struct SchemaField {
  uint32_t number;
  enum class Is : uint8_t { kName, kMessage, kMapKey, kMapValue, kAny } is;
  // kName, kMapKey: `kind` says what is named. kMapValue: the value of a map entry is a message or, without
  // schema, a name.
  NameKind kind = NameKind::kNode;
  const Schema* schema = nullptr;
};

struct Schema {
  std::span<const SchemaField> fields;
};

extern const Schema kVariableDef, kQueueRunnerDef, kSaverDef, kCondContextDef, kWhileContextDef,
    kSignatureDef, kSignatureInputs, kAssetFileDef, kSavedObjectGraph, kMetaInfoDef, kAnyItem;

// What becomes of a name.
class NameMap {
 public:
  NameMap() = default;
  NameMap(const NameMap&) = delete;
  NameMap& operator=(const NameMap&) = delete;
  virtual ~NameMap() = default;
  // Appends what `name` becomes; false: the field (the list item, the map entry) is left out.
  virtual bool map(NameKind kind, std::string_view name, std::string& out) const = 0;
};

// `message` with every name mapped. Throws Malformed; nesting deeper than 100 is refused that way, too.
std::string map_names(std::string_view message, const Schema& schema, const NameMap& map);

// A collection whose bytes_list holds messages of one type, as TensorFlow registers them
// (register_proto_function, docs/tensorflow.md#collections).
struct RegisteredCollection {
  std::string_view key;
  std::string_view message;  // its type, without package
  const Schema& schema;
};
// Null where the key is not registered.
const RegisteredCollection* registered_collection(std::string_view key);

// The schema of what a bytes_list of that key holds; null where the key is not registered.
const Schema* collection_schema(std::string_view key);
bool holds_variables(std::string_view key);  // the key is registered for VariableDef

}  // namespace gedit
