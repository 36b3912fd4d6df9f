#include "graph/listing_text.h"

#include <google/protobuf/any.pb.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "base/wire.h"
#include "graph.pb.h"
#include "meta_graph.pb.h"
#include "object_graph.pb.h"

namespace gedit {
namespace {

namespace pb = google::protobuf;

constexpr int kDeepest = 100;  // what protobuf's own parser of the wire format allows

const pb::Message& prototype(TextMessage type) {
  switch (type) {
    case TextMessage::kAny:
      return pb::Any::default_instance();
    case TextMessage::kArgDef:
      return tensorflow::OpDef::ArgDef::default_instance();
    case TextMessage::kAssetFileDef:
      return tensorflow::AssetFileDef::default_instance();
    case TextMessage::kCondContextDef:
      return tensorflow::CondContextDef::default_instance();
    case TextMessage::kFunctionDef:
      return tensorflow::FunctionDef::default_instance();
    case TextMessage::kGraphDebugInfo:
      return tensorflow::GraphDebugInfo::default_instance();
    case TextMessage::kMetaInfoDef:
      return tensorflow::MetaGraphDef::MetaInfoDef::default_instance();
    case TextMessage::kNodeDef:
      return tensorflow::NodeDef::default_instance();
    case TextMessage::kOpDef:
      return tensorflow::OpDef::default_instance();
    case TextMessage::kQueueRunnerDef:
      return tensorflow::QueueRunnerDef::default_instance();
    case TextMessage::kSavedConcreteFunction:
      return tensorflow::SavedConcreteFunction::default_instance();
    case TextMessage::kSavedModel:
      return tensorflow::SavedModel::default_instance();
    case TextMessage::kSavedObject:
      return tensorflow::SavedObject::default_instance();
    case TextMessage::kSaverDef:
      return tensorflow::SaverDef::default_instance();
    case TextMessage::kSignatureDef:
      return tensorflow::SignatureDef::default_instance();
    case TextMessage::kTensorProto:
      return tensorflow::TensorProto::default_instance();
    case TextMessage::kTrackableObjectGraph:
      return tensorflow::TrackableObjectGraph::default_instance();
    case TextMessage::kVariableDef:
      return tensorflow::VariableDef::default_instance();
    case TextMessage::kVersionDef:
      return tensorflow::VersionDef::default_instance();
    case TextMessage::kWhileContextDef:
      break;
  }
  return tensorflow::WhileContextDef::default_instance();
}

// Keeps the first complaint of protobuf's text parser, which would otherwise print it.
class FirstError final : public pb::io::ErrorCollector {
 public:
  void AddError(int /*line*/, pb::io::ColumnNumber column, const std::string& message) override {
    if (message_.empty()) {
      message_ = message;
      column_ = column;
    }
  }
  void AddWarning(int /*line*/, pb::io::ColumnNumber /*column*/, const std::string& /*message*/) override {}

  size_t column() const { return column_ < 0 ? 0 : static_cast<size_t>(column_); }

  std::string message() const {  // as gedit words them: lower case, no full stop, one line
    std::string text = printable(message_);
    if (text.ends_with('.')) text.pop_back();
    if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0) {
      text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    }
    return text;
  }

 private:
  std::string message_;
  int column_ = 0;
};

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
  {
    pb::io::StringOutputStream stream(&bytes);
    pb::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializePartialToCodedStream(&coded);
  }
  return bytes;
}

bool read_text(const std::string& text, pb::Message& message, FirstError& error) {
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(kDeepest);
  return parser.ParseFromString(text, &message);
}

// Writes `message` as `text` and reads it back; nothing where the two messages differ.
std::optional<std::string> through_text(TextMessage type, std::string_view message, std::string& text) {
  if (message.size() > static_cast<size_t>(std::numeric_limits<int>::max()) / 4) return std::nullopt;
  const std::unique_ptr<pb::Message> parsed(prototype(type).New());
  if (!parsed->ParsePartialFromArray(message.data(), static_cast<int>(message.size()))) return std::nullopt;
  if (!fits_text(*parsed)) return std::nullopt;
  pb::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  if (!printer.PrintToString(*parsed, &text)) return std::nullopt;
  while (text.ends_with(' ')) text.pop_back();
  const std::unique_ptr<pb::Message> again(prototype(type).New());
  FirstError error;
  if (!read_text(text, *again, error)) return std::nullopt;
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
  const std::unique_ptr<pb::Message> message(prototype(type).New());
  FirstError error;
  if (!read_text(text, *message, error)) {
    scanner.fail_at(start + std::min(error.column(), text.size()), error.message());
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
