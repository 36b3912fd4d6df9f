// TensorFlow's messages as proto/ describes them: what the fields are called and what they hold. The
// descriptions are inside the program. For text and JSON; whatever reads or edits a graph goes by the numbers
// of fields alone (base/wire.h).
//   const MessageType& node_def = message_type("tensorflow.NodeDef");
//   if (const MessageField* field = node_def.field_named("op")) use(field->number);
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/wire.h"

namespace gedit {

// Protobuf's own limit, for binary and for text: messages within messages.
constexpr int kDeepestNesting = 100;

// What no message of proto/ has more of.
constexpr size_t kWidestMessage = 64, kMostOneofs = 8;

// With the numbers of google.protobuf.FieldDescriptorProto.Type. There are no groups in proto/.
enum class FieldType : uint8_t {
  kDouble = 1,
  kFloat = 2,
  kInt64 = 3,
  kUint64 = 4,
  kInt32 = 5,
  kFixed64 = 6,
  kFixed32 = 7,
  kBool = 8,
  kString = 9,
  kMessage = 11,
  kBytes = 12,
  kUint32 = 13,
  kEnum = 14,
  kSfixed32 = 15,
  kSfixed64 = 16,
  kSint32 = 17,
  kSint64 = 18,
};

struct EnumType {
  std::string full_name;
  std::map<int32_t, std::string> names;  // the first that each number has
  std::map<std::string, int32_t, std::less<>> numbers;

  const std::string* name_of(int32_t number) const;  // null: none
  std::optional<int32_t> number_of(std::string_view name) const;
};

struct MessageType;

struct MessageField {
  uint32_t number = 0;
  FieldType type = FieldType::kInt64;
  Wire wire = Wire::kVarint;  // of one value
  std::string name, json_name;
  bool repeated = false;
  bool packed = false;    // how protobuf writes a repeated one; it reads both
  bool presence = false;  // set to 0 is not the same as not set
  int oneof = -1;         // its place in MessageType::oneofs, -1: in none
  size_t place = 0;       // in MessageType::fields
  const MessageType* containing = nullptr;
  const MessageType* message = nullptr;   // kMessage
  const EnumType* enumeration = nullptr;  // kEnum

  bool is_map() const;
  bool packable() const { return wire != Wire::kBytes; }  // neither bytes nor a message
  bool fits(Wire found) const {                           // else it is an unknown field to protobuf
    return found == wire || (found == Wire::kBytes && repeated && packable());
  }
};

struct MessageType {
  std::string full_name, name;       // tensorflow.OpDef.ArgDef, ArgDef
  std::vector<MessageField> fields;  // in the order of their numbers; a map's entry has its key and its value
  std::vector<std::string> oneofs, reserved_names;
  bool is_map_entry = false;

  const MessageField* field_numbered(uint32_t number) const;     // null: none
  const MessageField* field_named(std::string_view name) const;  // as proto/ spells it
  const MessageField* field_of_key(std::string_view key) const;  // as JSON does, or proto/

  bool is_any() const;      // google.protobuf.Any: a URL, 1, and the bytes of the message that it names, 2
  bool is_wrapper() const;  // google.protobuf.BoolValue and the like: one field, `value`
};

// By its full name; null where proto/ has no such message.
const MessageType* find_message_type(std::string_view full_name);

// Throws std::logic_error where proto/ has no such message.
const MessageType& message_type(std::string_view full_name);

}  // namespace gedit
