#include "message/type.h"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "base/by_text.h"
#include "base/embedded.h"

// Of gedit_embed() in lib/CMakeLists.txt: a FileDescriptorSet that protoc made.
extern "C" const char gedit_message_types[], gedit_message_types_end[];

namespace gedit {
namespace {

// Of google/protobuf/descriptor.proto: FileDescriptorSet, FileDescriptorProto, DescriptorProto, its
// MessageOptions, FieldDescriptorProto, its FieldOptions, EnumDescriptorProto, EnumValueDescriptorProto.
constexpr uint32_t kSetFile = 1;
constexpr uint32_t kFilePackage = 2, kFileMessage = 4, kFileEnum = 5;
constexpr uint32_t kMessageName = 1, kMessageField = 2, kMessageNested = 3, kMessageEnum = 4,
                   kMessageOptions = 7, kMessageOneof = 8, kMessageReservedName = 10;
constexpr uint32_t kOptionMapEntry = 7;
constexpr uint32_t kFieldName = 1, kFieldNumber = 3, kFieldLabel = 4, kFieldType = 5, kFieldTypeName = 6,
                   kFieldOptions = 8, kFieldOneof = 9, kFieldJsonName = 10, kFieldOptional = 17;
constexpr uint64_t kLabelRepeated = 3;
constexpr uint32_t kOptionPacked = 2;
constexpr uint32_t kEnumName = 1, kEnumValue = 2, kValueName = 1, kValueNumber = 2;

Wire wire_of(FieldType type) {
  switch (type) {
    case FieldType::kDouble:
    case FieldType::kFixed64:
    case FieldType::kSfixed64:
      return Wire::kFixed64;
    case FieldType::kFloat:
    case FieldType::kFixed32:
    case FieldType::kSfixed32:
      return Wire::kFixed32;
    case FieldType::kString:
    case FieldType::kBytes:
    case FieldType::kMessage:
      return Wire::kBytes;
    default:
      return Wire::kVarint;
  }
}

class MessageTypes {
 public:
  MessageTypes() {
    const std::string files = embedded(gedit_message_types, gedit_message_types_end);
    for (Fields all(files); all.next();) {
      if (all->bytes(kSetFile)) add_file(all->value);
    }
    for (const auto& [type, field, name] : unresolved_) resolve(*type, field, name);
  }

  const MessageType* find(std::string_view full_name) const {
    const auto found = messages_.find(full_name);
    return found == messages_.end() ? nullptr : found->second.get();
  }

 private:
  void add_file(std::string_view bytes) {
    const std::string package(last_bytes(bytes, kFilePackage));
    for (Fields fields(bytes); fields.next();) {
      if (fields->bytes(kFileMessage)) add_message(package, fields->value);
      if (fields->bytes(kFileEnum)) add_enum(package, fields->value);
    }
  }

  void add_enum(const std::string& scope, std::string_view bytes) {
    auto made = std::make_unique<EnumType>();
    made->full_name = scope + "." + std::string(last_bytes(bytes, kEnumName));
    for (Fields fields(bytes); fields.next();) {
      if (!fields->bytes(kEnumValue)) continue;
      const std::string name(last_bytes(fields->value, kValueName));
      const auto number = static_cast<int32_t>(last_varint(fields->value, kValueNumber));
      made->names.emplace(number, name);
      made->numbers.emplace(name, number);
    }
    enums_[made->full_name] = std::move(made);
  }

  void add_message(const std::string& scope, std::string_view bytes) {
    auto made = std::make_unique<MessageType>();
    made->name = last_bytes(bytes, kMessageName);
    made->full_name = scope + "." + made->name;
    made->is_map_entry = last_varint(last_bytes(bytes, kMessageOptions), kOptionMapEntry) != 0;
    for (Fields fields(bytes); fields.next();) {
      if (fields->bytes(kMessageNested)) add_message(made->full_name, fields->value);
      if (fields->bytes(kMessageEnum)) add_enum(made->full_name, fields->value);
      if (fields->bytes(kMessageOneof)) made->oneofs.emplace_back(last_bytes(fields->value, 1));
      if (fields->bytes(kMessageReservedName)) made->reserved_names.emplace_back(fields->value);
      if (fields->bytes(kMessageField)) add_field(*made, fields->value);
    }
    std::sort(made->fields.begin(), made->fields.end(),
              [](const MessageField& a, const MessageField& b) { return a.number < b.number; });
    for (size_t i = 0; i < made->fields.size(); ++i) made->fields[i].place = i;
    if (made->fields.size() > kWidestMessage || made->oneofs.size() > kMostOneofs)
      throw std::logic_error("too many fields in " + made->full_name);
    messages_[made->full_name] = std::move(made);
  }

  // Whether a repeated number is packed unless its file says otherwise is the syntax's to tell; all of proto/
  // is proto3.
  void add_field(MessageType& type, std::string_view bytes) {
    MessageField field;
    field.name = last_bytes(bytes, kFieldName);
    field.json_name = last_bytes(bytes, kFieldJsonName);
    field.number = static_cast<uint32_t>(last_varint(bytes, kFieldNumber));
    field.type = static_cast<FieldType>(last_varint(bytes, kFieldType));
    field.wire = wire_of(field.type);
    field.repeated = last_varint(bytes, kFieldLabel) == kLabelRepeated;
    field.packed = field.repeated && field.packable() &&
                   last_varint(last_bytes(bytes, kFieldOptions), kOptionPacked, 1) != 0;
    const bool optional = last_varint(bytes, kFieldOptional) != 0;
    if (has_field(bytes, kFieldOneof) && !optional)
      field.oneof = static_cast<int>(last_varint(bytes, kFieldOneof));
    field.presence = !field.repeated && (optional || field.oneof >= 0 || field.type == FieldType::kMessage);
    field.containing = &type;
    const std::string_view type_name = last_bytes(bytes, kFieldTypeName);
    if (!type_name.empty()) unresolved_.push_back({&type, field.number, std::string(type_name.substr(1))});
    type.fields.push_back(std::move(field));
  }

  void resolve(MessageType& type, uint32_t number, const std::string& name) {
    for (MessageField& field : type.fields) {
      if (field.number != number) continue;
      if (field.type == FieldType::kMessage) field.message = find(name);
      if (field.type == FieldType::kEnum) field.enumeration = enums_.at(name).get();
      if (field.message == nullptr && field.enumeration == nullptr)
        throw std::logic_error("proto/ has no " + name);
    }
  }

  struct Unresolved {
    MessageType* type;
    uint32_t field;
    std::string name;
  };

  ByText<std::unique_ptr<MessageType>> messages_;
  ByText<std::unique_ptr<EnumType>> enums_;
  std::vector<Unresolved> unresolved_;
};

template <typename Same>
const MessageField* first_field(const std::vector<MessageField>& fields, Same same) {
  const auto found = std::find_if(fields.begin(), fields.end(), same);
  return found == fields.end() ? nullptr : &*found;
}

}  // namespace

const std::string* EnumType::name_of(int32_t number) const {
  const auto found = names.find(number);
  return found == names.end() ? nullptr : &found->second;
}

std::optional<int32_t> EnumType::number_of(std::string_view name) const {
  const auto found = numbers.find(name);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

bool MessageField::is_map() const { return message != nullptr && message->is_map_entry; }

const MessageField* MessageType::field_numbered(uint32_t number) const {
  if (number > 0 && number <= fields.size() && fields[number - 1].number == number)
    return &fields[number - 1];
  return first_field(fields, [&](const MessageField& field) { return field.number == number; });
}

const MessageField* MessageType::field_named(std::string_view wanted) const {
  return first_field(fields, [&](const MessageField& field) { return field.name == wanted; });
}

const MessageField* MessageType::field_of_key(std::string_view key) const {
  return first_field(fields,
                     [&](const MessageField& field) { return field.name == key || field.json_name == key; });
}

bool MessageType::is_any() const { return full_name == "google.protobuf.Any"; }

bool MessageType::is_wrapper() const {
  return full_name.starts_with("google.protobuf.") && fields.size() == 1 && fields[0].name == "value";
}

const MessageType* find_message_type(std::string_view full_name) {
  static const MessageTypes made;
  return made.find(full_name);
}

const MessageType& message_type(std::string_view full_name) {
  const MessageType* type = find_message_type(full_name);
  if (type == nullptr) throw std::logic_error("proto/ has no " + std::string(full_name));
  return *type;
}

}  // namespace gedit
