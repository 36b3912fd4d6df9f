#include "model/transcode.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <climits>

#include "base/messages.h"
#include "base/parallel.h"
#include "base/utf8.h"
#include "base/wire.h"

namespace gedit {
namespace {

using google::protobuf::internal::WireFormatLite;

bool holds_messages(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

// A field whose wire type is not its own is an unknown field to protobuf.
bool fits(const FieldDescriptor& field, Wire wire) {
  if (wire == Wire::kBytes && field.is_packable()) return true;
  const auto type = static_cast<WireFormatLite::FieldType>(field.type());
  return static_cast<int>(wire) == static_cast<int>(WireFormatLite::WireTypeForFieldType(type));
}

// What a node, a function or a saved model's part is called in messages; empty for other types.
std::string name_of(const Descriptor& type, std::string_view bytes) {
  if (type.full_name() == "tensorflow.NodeDef") return quoted("node", last_bytes(bytes, 1));
  if (type.full_name() == "tensorflow.FunctionDef")
    return quoted("function", last_bytes(last_bytes(bytes, 1), 1));
  return {};
}

using MessagePieces =
    std::vector<std::string_view>;  // a message: their concatenation, which is how protobuf merges

class MessageTaker {
 public:
  MessageTaker(std::string_view file, Form form, bool drop_unknown, Receiver& receiver)
      : file_(file),
        checker_(form, drop_unknown),
        form_(form),
        drop_unknown_(drop_unknown),
        receiver_(receiver) {}

  void take(const Descriptor& type, const MessagePieces& message) {
    for (const FieldDescriptor* field : present(type, message)) {
      if (!leads_to_opened(*field)) {
        pieces(*field, message);
      } else if (field->is_repeated()) {
        for_each(message, *field, [&](const Field& one) { open(*field, {one.value}); });
      } else {
        MessagePieces merged;
        for_each(message, *field, [&](const Field& one) { merged.push_back(one.value); });
        open(*field, merged);
      }
    }
  }

 private:
  void open(const FieldDescriptor& field, const MessagePieces& message) {
    receiver_.begin(field);
    take(*field.message_type(), message);
    receiver_.end(field);
  }

  // The fields that occur, in the order of their numbers.
  std::vector<const FieldDescriptor*> present(const Descriptor& type, const MessagePieces& message) const {
    std::vector<const FieldDescriptor*> found;
    uint32_t before = 0;
    for (std::string_view bytes : message) {
      for (Fields fields(bytes); fields.next();) {
        if (fields->number == before && fields->wire == Wire::kBytes) continue;  // a million nodes in a row
        const FieldDescriptor* field = type.FindFieldByNumber(static_cast<int>(fields->number));
        if (field == nullptr || !fits(*field, fields->wire)) {
          checker_.unknown(type, fields->number);
          continue;
        }
        if (std::find(found.begin(), found.end(), field) == found.end()) found.push_back(field);
        before = holds_messages(*field) ? fields->number : 0;
      }
    }
    std::sort(found.begin(), found.end(),
              [](const auto* a, const auto* b) { return a->number() < b->number(); });
    return found;
  }

  template <typename Use>
  static void for_each(const MessagePieces& message, const FieldDescriptor& field, Use use) {
    for (std::string_view bytes : message) {
      for (Fields fields(bytes); fields.next();) {
        if (fields->number == static_cast<uint32_t>(field.number()) && fits(field, fields->wire))
          use(fields.field());
      }
    }
  }

  // Neighbours in the file are parsed together, straight from it; a field that must be seen whole and lies
  // scattered is gathered first.
  void pieces(const FieldDescriptor& field, const MessagePieces& message) {
    const bool whole = !field.is_repeated() || field.is_map();
    std::string_view run;
    std::string gathered;
    MessagePieces runs;
    for_each(message, field, [&](const Field& one) {
      const bool adjoins = !run.empty() && run.data() + run.size() == one.raw.data();
      const bool fills = !whole && run.size() + one.raw.size() > kPieceBytes;
      if (adjoins && !fills) {
        run = {run.data(), run.size() + one.raw.size()};
        return;
      }
      if (whole) {
        gathered += run;
      } else if (!run.empty()) {
        runs.push_back(run);
      }
      run = one.raw;
    });
    if (!gathered.empty()) {
      gathered += run;
      run = gathered;
    }
    runs.push_back(run);
    pieces_in_order(
        runs.size(),
        [&](size_t k, std::string& text) {
          const auto reader =
              readers_.borrow([&] { return std::make_unique<PartReader>(form_, drop_unknown_); });
          receiver_.print(field, runs[k], *reader, text);
        },
        [&](std::string_view text) { receiver_.piece(field, text); });
  }

  std::string_view file_;
  Checker checker_;
  Form form_;
  bool drop_unknown_;
  Receiver& receiver_;
  Rooms<PartReader> readers_;
};

}  // namespace

const Descriptor& descriptor_of(Kind kind) {
  switch (kind) {
    case Kind::kMetaGraphDef:
      return message_type("tensorflow.MetaGraphDef");
    case Kind::kSavedModel:
      return message_type("tensorflow.SavedModel");
    default:
      return message_type("tensorflow.GraphDef");
  }
}

bool is_opened(const Descriptor& type) {
  const std::string& name = type.full_name();
  return name == "tensorflow.GraphDef" || name == "tensorflow.FunctionDefLibrary" ||
         name == "tensorflow.MetaGraphDef" || name == "tensorflow.SavedModel";
}

bool leads_to_opened(const FieldDescriptor& field) {
  return holds_messages(field) && !field.is_map() && is_opened(*field.message_type());
}

bool Checker::check(const Descriptor& type, std::string_view bytes) {
  levels_.clear();
  return walk(type, bytes);
}

void Checker::unknown(const Descriptor& type, uint32_t number) const {
  if (drop_unknown_) return;
  std::string subject;
  std::string where = place(std::to_string(number), subject);
  if (subject.empty()) subject = levels_.empty() ? type.name() : levels_[0].field->containing_type()->name();
  throw Error(Cause::kRefused, std::string(form_.word) + " cannot hold field " + where + " of " + subject)
      .hint("--drop-unknown");
}

bool Checker::walk(const Descriptor& type, std::string_view bytes) {
  bool found_unknown = false;
  for (Fields fields(bytes); fields.next();) {
    const FieldDescriptor* field = type.FindFieldByNumber(static_cast<int>(fields->number));
    if (field == nullptr || !fits(*field, fields->wire)) {
      unknown(type, fields->number);
      found_unknown = true;
    } else if (holds_messages(*field)) {
      if (levels_.size() == kDeepestNesting)
        throw Malformed(fields->raw.data(), "messages nested deeper than 100 levels");
      levels_.push_back({field, fields->value});
      if (walk(*field->message_type(), fields->value)) found_unknown = true;
      levels_.pop_back();
    } else if (field->type() == FieldDescriptor::TYPE_STRING && !valid_utf8(fields->value)) {
      std::string subject;
      const std::string where = place(field->name(), subject);
      if (form_.reading) throw Error(Cause::kInput, where + " is not valid UTF-8").of(subject);
      throw Error(Cause::kRefused,
                  where + " is not valid UTF-8, which " + std::string(form_.word) + " cannot hold")
          .of(subject)
          .hint("-f gtxt keeps it");
    }
  }
  if (form_.expands_any && type.full_name() == "google.protobuf.Any") {
    if (look_into_any(bytes)) found_unknown = true;
  }
  return found_unknown;
}

bool Checker::look_into_any(std::string_view any) {
  const std::string_view url = last_bytes(any, 1);
  if (url.empty() && last_bytes(any, 2).empty()) return false;
  const std::string name(url.substr(url.rfind('/') + 1));
  const Descriptor* type = message_types().FindMessageTypeByName(name);
  if (type == nullptr || url.find('/') == std::string_view::npos) {
    std::string subject;
    const std::string where = place("type_url", subject);
    throw Error(Cause::kRefused, where + " is " + quoted("", url).substr(1) + ", a message that " +
                                     std::string(form_.word) + " cannot hold")
        .of(subject)
        .hint("-f pbtxt or -f gtxt keeps it");
  }
  if (levels_.size() == kDeepestNesting)
    throw Malformed(any.data(), "messages nested deeper than 100 levels");
  levels_.push_back({nullptr, {}});
  const bool found_unknown = walk(*type, last_bytes(any, 2));
  levels_.pop_back();
  return found_unknown;
}

// The path of a field below the innermost node or function, which becomes the subject.
std::string Checker::place(std::string_view last, std::string& subject) const {
  std::string path;
  for (const Level& level : levels_) {
    if (level.field == nullptr) continue;
    const Descriptor& type = *level.field->message_type();
    const std::string name = name_of(type, level.bytes);
    if (!name.empty()) {
      subject = subject.empty() ? name : name + " in " + subject;
      path.clear();
    } else if (level.field->is_map()) {
      path += std::string(level.field->name()) + "[" + printable(map_entry(level.bytes).key) + "].";
    } else {
      path += level.field->name() + ".";
    }
  }
  path += last;
  return path;
}

void take_apart(Kind kind, std::string_view message, std::string_view file, Form form, bool drop_unknown,
                Receiver& receiver) {
  try {
    MessageTaker(file, form, drop_unknown, receiver).take(descriptor_of(kind), {message});
  } catch (const Malformed& error) {
    rethrow_in(error, message, file);
  } catch (const Error& error) {
    throw error.in(file);
  }
}

const Message& PartReader::read(const FieldDescriptor& field, std::string_view bytes) {
  if (bytes.size() > INT_MAX)
    throw Error(Cause::kRefused, std::string(field.name()) + " of over 2 GiB, which " +
                                     std::string(form_.word) + " cannot hold");
  const Descriptor& type = *field.containing_type();
  const bool has_unknown = checker_.check(type, bytes);
  Message& part = arena_.make(type);
  if (!parse_message(bytes, part)) throw Malformed(bytes.data(), "not a " + type.full_name());
  if (has_unknown) drop_unknown_fields(part);
  return part;
}

void PartWriter::append(const Message& part, std::string& bytes) {
  const size_t start = bytes.size();
  append_serialized(bytes, part);
  checker_.check(*part.GetDescriptor(), std::string_view(bytes).substr(start));
}

void Assembler::end(const FieldDescriptor& field, size_t begin) {
  std::string header;
  append_tag(header, static_cast<uint32_t>(field.number()), Wire::kBytes);
  append_varint(header, bytes_.size() - begin);
  bytes_.insert(begin, header);  // moves what is inside once per level, of which there are three at most
}

PieceArena::PieceArena() : block_(16 * kPieceBytes) {}
PieceArena::~PieceArena() = default;

Message& PieceArena::make(const Descriptor& type) {
  if (arena_ == nullptr) {
    google::protobuf::ArenaOptions options;
    options.initial_block = block_.data();
    options.initial_block_size = block_.size();
    arena_ = std::make_unique<google::protobuf::Arena>(options);
  }
  arena_->Reset();
  return new_message(type, *arena_);
}

PlaceInFile place_of(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const size_t newline = before.rfind('\n');
  const size_t line_start = newline == std::string_view::npos ? 0 : newline + 1;
  return {static_cast<size_t>(std::count(before.begin(), before.end(), '\n')) + 1,
          before.size() - line_start + 1};
}

Error error_at(std::string_view text, size_t offset, std::string_view file, std::string message) {
  const PlaceInFile place = place_of(text, offset);
  return Error(Cause::kInput, std::move(message))
      .of("line " + std::to_string(place.line) + ": column " + std::to_string(place.column))
      .in(file);
}

}  // namespace gedit
