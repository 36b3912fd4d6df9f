// The table of names around a graph: which fields of the messages in a MetaGraphDef hold the name of a node,
// a tensor, a function (docs/tensorflow.md#messages-that-hold-names). Together with
// graph/references.h it is the whole table.
//
// A message is rewritten by its schema field by field; what the schema does not name is copied verbatim, so
// unknown fields and the order of map entries stay.
#pragma once

#include <cstdint>
#include <functional>
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

// What a node or tensor is to the message that names it, and a message to the one around it; several may be
// true.
namespace name_role {
constexpr uint8_t kNeeded = 1,  // without it the message is of no use
    kSubject = 2,               // what the message is about: a copy of it makes a copy of the message
    kOutside = 4,               // may lie outside of what was copied; then it is the original's
    kInside = 8,                // as what the name before it comes in, which then is one outside
    kGoesAlone = 16;            // a message that is left out where it lacks what it needs
}

struct Schema;

// How one field is treated.
struct SchemaField {
  uint32_t number;
  enum class Is : uint8_t { kName, kMessage, kMapKey, kMapValue, kAny } is;
  // kName, kMapKey: `kind` says what is named. kMapValue: the value of a map entry is a message or, without
  // schema, a name.
  NameKind kind = NameKind::kNode;
  const Schema* schema = nullptr;
  uint8_t roles = 0;  // of name_role

  bool has(uint8_t role) const { return (roles & role) != 0; }
};

struct Schema {
  std::span<const SchemaField> fields;
  std::string_view message = {};  // its type, without package, where a collection may hold it
};

extern const Schema kVariableDef, kQueueRunnerDef, kSaverDef, kCondContextDef, kWhileContextDef,
    kSignatureDef, kSignatureInputs, kTensorInfo, kAssetFileDef, kSavedObjectGraph, kMetaInfoDef, kAnyItem;

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

// Calls `use` with every name in `message`: its field, the name, and in how many messages it is nested.
// Throws as map_names does.
using NameUse = std::function<void(const SchemaField& field, std::string_view name, int depth)>;
void each_name(std::string_view message, const Schema& schema, const NameUse& use);

// The same with those alone without which the whole message is of no use.
void each_needed_name(std::string_view message, const Schema& schema, const NameUse& use);

}  // namespace gedit
