#include "graph/listing_text.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/messages.h"
#include "base/utf8.h"
#include "base/wire.h"

namespace gedit {
namespace {

namespace pb = google::protobuf;

std::string_view full_name(TextMessage type) {
  switch (type) {
    case TextMessage::kAny:
      return "google.protobuf.Any";
    case TextMessage::kArgDef:
      return "tensorflow.OpDef.ArgDef";
    case TextMessage::kAssetFileDef:
      return "tensorflow.AssetFileDef";
    case TextMessage::kCondContextDef:
      return "tensorflow.CondContextDef";
    case TextMessage::kFunctionDef:
      return "tensorflow.FunctionDef";
    case TextMessage::kGraphDebugInfo:
      return "tensorflow.GraphDebugInfo";
    case TextMessage::kMetaInfoDef:
      return "tensorflow.MetaGraphDef.MetaInfoDef";
    case TextMessage::kNodeDef:
      return "tensorflow.NodeDef";
    case TextMessage::kOpDef:
      return "tensorflow.OpDef";
    case TextMessage::kQueueRunnerDef:
      return "tensorflow.QueueRunnerDef";
    case TextMessage::kSavedConcreteFunction:
      return "tensorflow.SavedConcreteFunction";
    case TextMessage::kSavedModel:
      return "tensorflow.SavedModel";
    case TextMessage::kSavedObject:
      return "tensorflow.SavedObject";
    case TextMessage::kSaverDef:
      return "tensorflow.SaverDef";
    case TextMessage::kSignatureDef:
      return "tensorflow.SignatureDef";
    case TextMessage::kTensorProto:
      return "tensorflow.TensorProto";
    case TextMessage::kTrackableObjectGraph:
      return "tensorflow.TrackableObjectGraph";
    case TextMessage::kVariableDef:
      return "tensorflow.VariableDef";
    case TextMessage::kVersionDef:
      return "tensorflow.VersionDef";
    case TextMessage::kWhileContextDef:
      break;
  }
  return "tensorflow.WhileContextDef";
}

std::unique_ptr<pb::Message> empty_message(TextMessage type) {
  return new_message(message_type(full_name(type)));
}

// Whether text can hold the message: no unknown fields, and nothing but UTF-8 in its strings.
bool fits_text(const pb::Message& message) {
  std::vector<const pb::FieldDescriptor*> fields;
  std::vector<const pb::Message*> open{&message};
  while (!open.empty()) {
    const pb::Message& current = *open.back();
    open.pop_back();
    const pb::Reflection& reflection = *current.GetReflection();
    if (!reflection.GetUnknownFields(current).empty()) return false;
    fields.clear();
    reflection.ListFields(current, &fields);
    for (const pb::FieldDescriptor* field : fields) {
      const int count = field->is_repeated() ? reflection.FieldSize(current, field) : 1;
      if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE) {
        for (int i = 0; i < count; ++i) {
          open.push_back(field->is_repeated() ? &reflection.GetRepeatedMessage(current, field, i)
                                              : &reflection.GetMessage(current, field));
        }
      } else if (field->type() == pb::FieldDescriptor::TYPE_STRING) {
        std::string scratch;
        for (int i = 0; i < count; ++i) {
          const std::string& value = field->is_repeated()
                                         ? reflection.GetRepeatedStringReference(current, field, i, &scratch)
                                         : reflection.GetStringReference(current, field, &scratch);
          if (!valid_utf8(value)) return false;
        }
      }
    }
  }
  return true;
}

std::string serialized(const pb::Message& message) {
  std::string bytes;
  append_serialized(bytes, message);
  return bytes;
}

// Writes `message` as `text` and reads it back; nothing where the two messages differ.
std::optional<std::string> through_text(TextMessage type, std::string_view message, std::string& text) {
  if (message.size() > static_cast<size_t>(std::numeric_limits<int>::max()) / 4) return std::nullopt;
  const std::unique_ptr<pb::Message> parsed = empty_message(type);
  if (!parse_message(message, *parsed)) return std::nullopt;
  if (!fits_text(*parsed)) return std::nullopt;
  pb::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  if (!printer.PrintToString(*parsed, &text)) return std::nullopt;
  while (text.ends_with(' ')) text.pop_back();
  const std::unique_ptr<pb::Message> again = empty_message(type);
  TextFault fault;
  if (!parse_message_text(text, *again, fault)) return std::nullopt;
  std::string bytes = serialized(*again);
  if (bytes != serialized(*parsed)) return std::nullopt;
  return bytes;
}

void check_wire(std::string_view message) {
  for (Fields fields(message); fields.next();) continue;
}

}  // namespace

bool try_text(std::string& out, TextMessage type, std::string_view message, bool same_bytes) {
  std::string text;
  const std::optional<std::string> bytes = through_text(type, message, text);
  if (!bytes || (same_bytes && *bytes != message)) return false;
  out += text;
  return true;
}

std::string normalized(TextMessage type, std::string_view message) {
  std::string text;
  return through_text(type, message, text).value_or(std::string(message));
}

void print_text(std::string& out, TextMessage type, std::string_view message) {
  check_wire(message);
  if (message.empty() || try_text(out, type, message)) return;
  out += "raw ";
  print_quoted(out, message);
}

void print_block(std::string& out, TextMessage type, std::string_view message) {
  out += "{ ";
  const size_t start = out.size();
  print_text(out, type, message);
  if (out.size() == start) {
    out.back() = '}';
  } else {
    out += " }";
  }
}

bool accept_raw(Scanner& scanner, std::string& bytes) {
  scanner.peek();
  const size_t start = scanner.position();
  if (!scanner.accept_word("raw")) return false;
  if (scanner.peek() != '"') {
    scanner.seek(start);
    return false;
  }
  std::string store;
  bytes = scanner.quoted(store, "bytes in quotes");
  try {
    check_wire(bytes);
  } catch (const Malformed& error) {
    scanner.fail_at(start, error.what());
  }
  return true;
}

std::string parse_text(Scanner& scanner, TextMessage type, char closing) {
  std::string bytes;
  if (accept_raw(scanner, bytes)) return bytes;
  size_t start = 0;
  const std::string text = scanner.text(closing, start);
  if (text.empty()) return bytes;
  const std::unique_ptr<pb::Message> message = empty_message(type);
  TextFault fault;
  if (!parse_message_text(text, *message, fault)) {
    scanner.fail_at(start + std::min(static_cast<size_t>(fault.column), text.size()), fault.message);
  }
  if (!fits_text(*message)) scanner.fail_at(start, "a string in this text is not UTF-8");
  return serialized(*message);
}

std::string parse_block(Scanner& scanner, TextMessage type) {
  scanner.expect('{');
  std::string message = parse_text(scanner, type, '}');
  scanner.expect('}');
  return message;
}

}  // namespace gedit
