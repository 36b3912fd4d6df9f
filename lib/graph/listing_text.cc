#include "graph/listing_text.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/utf8.h"
#include "message/fields.h"
#include "message/text.h"

namespace gedit {
namespace {

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

const MessageType& type_of(TextMessage type) { return message_type(full_name(type)); }

// Whether text can hold the message: no unknown fields, nothing but UTF-8 in its strings, not too deep.
bool fits_text(const MessageType& type, std::string_view message, int depth = 0) {
  if (depth > kDeepestNesting) return false;
  for (Fields fields(message); fields.next();) {
    const MessageField* field = type.field_numbered(fields->number);
    if (field == nullptr || !field->fits(fields->wire)) return false;
    if (field->type == FieldType::kString && !valid_utf8(fields->value)) return false;
    if (field->type == FieldType::kMessage && !fits_text(*field->message, fields->value, depth + 1))
      return false;
  }
  return true;
}

// Writes `message` as `text` and reads it back; nothing where the two messages differ.
std::optional<std::string> through_text(TextMessage text_message, std::string_view message,
                                        std::string& text) {
  if (message.size() > static_cast<size_t>(std::numeric_limits<int>::max()) / 4) return std::nullopt;
  const MessageType& type = type_of(text_message);
  std::string bytes, again;
  try {
    if (!fits_text(type, message)) return std::nullopt;
    append_canonical(bytes, type, message);
  } catch (const Malformed&) {
    return std::nullopt;
  }
  print_message_text(text, type, bytes, TextStyle::kLine);
  if (parse_message_text(text, type, again) || again != bytes) return std::nullopt;
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
  if (const auto fault = parse_message_text(text, type_of(type), bytes))
    scanner.fail_at(start + std::min(fault->offset, text.size()), fault->message);
  if (!fits_text(type_of(type), bytes)) scanner.fail_at(start, "a string in this text is not UTF-8");
  return bytes;
}

std::string parse_block(Scanner& scanner, TextMessage type) {
  scanner.expect('{');
  std::string message = parse_text(scanner, type, '}');
  scanner.expect('}');
  return message;
}

}  // namespace gedit
