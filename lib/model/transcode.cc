#include "model/transcode.h"

#include <algorithm>
#include <climits>

#include "base/error.h"
#include "base/parallel.h"
#include "base/utf8.h"

namespace gedit {
namespace {

// What a node, a function or a saved model's part is called in messages; empty for other types.
std::string name_of(const MessageType& type, std::string_view bytes) {
  if (type.full_name == "tensorflow.NodeDef") return quoted("node", last_bytes(bytes, 1));
  if (type.full_name == "tensorflow.FunctionDef")
    return quoted("function", last_bytes(last_bytes(bytes, 1), 1));
  return {};
}

using MessagePieces =
    std::vector<std::string_view>;  // a message: their concatenation, which is how protobuf merges

class MessageTaker {
 public:
  MessageTaker(std::string_view file, Form form, bool drop_unknown, Receiver& receiver)
      : file_(file), checker_(form, drop_unknown), form_(form), receiver_(receiver) {}

  void take(const MessageType& type, const MessagePieces& message) {
    for (const MessageField* field : present(type, message)) {
      if (!leads_to_opened(*field)) {
        pieces(*field, message);
      } else if (field->repeated) {
        for_each(message, *field, [&](const Field& one) { open(*field, {one.value}); });
      } else {
        MessagePieces merged;
        for_each(message, *field, [&](const Field& one) { merged.push_back(one.value); });
        open(*field, merged);
      }
    }
  }

 private:
  void open(const MessageField& field, const MessagePieces& message) {
    receiver_.begin(field);
    take(*field.message, message);
    receiver_.end(field);
  }

  // The fields that occur, in the order of their numbers.
  std::vector<const MessageField*> present(const MessageType& type, const MessagePieces& message) const {
    std::vector<const MessageField*> found;
    uint32_t before = 0;
    for (std::string_view bytes : message) {
      for (Fields fields(bytes); fields.next();) {
        if (fields->number == before && fields->wire == Wire::kBytes) continue;  // a million nodes in a row
        const MessageField* field = type.field_numbered(fields->number);
        if (field == nullptr || !field->fits(fields->wire)) {
          checker_.unknown(type, fields->number);
          continue;
        }
        if (std::find(found.begin(), found.end(), field) == found.end()) found.push_back(field);
        before = field->type == FieldType::kMessage ? fields->number : 0;
      }
    }
    std::sort(found.begin(), found.end(), [](const auto* a, const auto* b) { return a->number < b->number; });
    return found;
  }

  template <typename Use>
  static void for_each(const MessagePieces& message, const MessageField& field, Use use) {
    for (std::string_view bytes : message) {
      for (Fields fields(bytes); fields.next();) {
        if (fields->number == field.number && field.fits(fields->wire)) use(fields.field());
      }
    }
  }

  // Neighbours in the file are parsed together, straight from it; a field that must be seen whole and lies
  // scattered is gathered first.
  void pieces(const MessageField& field, const MessagePieces& message) {
    const bool whole = !field.repeated || field.is_map();
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
          if (runs[k].size() > INT_MAX)
            throw Error(Cause::kRefused,
                        field.name + " of over 2 GiB, which " + std::string(form_.word) + " cannot hold");
          Checker(checker_).check(*field.containing, runs[k]);
          receiver_.print(field, runs[k], text);
        },
        [&](std::string_view text) { receiver_.piece(field, text); });
  }

  std::string_view file_;
  Checker checker_;
  Form form_;
  Receiver& receiver_;
};

}  // namespace

const MessageType& message_type_of(Kind kind) {
  switch (kind) {
    case Kind::kMetaGraphDef:
      return message_type("tensorflow.MetaGraphDef");
    case Kind::kSavedModel:
      return message_type("tensorflow.SavedModel");
    default:
      return message_type("tensorflow.GraphDef");
  }
}

bool is_opened(const MessageType& type) {
  const std::string& name = type.full_name;
  return name == "tensorflow.GraphDef" || name == "tensorflow.FunctionDefLibrary" ||
         name == "tensorflow.MetaGraphDef" || name == "tensorflow.SavedModel";
}

bool leads_to_opened(const MessageField& field) {
  return field.type == FieldType::kMessage && !field.is_map() && is_opened(*field.message);
}

void Checker::check(const MessageType& type, std::string_view bytes) {
  levels_.clear();
  walk(type, bytes);
}

void Checker::unknown(const MessageType& type, uint32_t number) const {
  if (drop_unknown_) return;
  std::string subject;
  std::string where = place(std::to_string(number), subject);
  if (subject.empty()) subject = levels_.empty() ? type.name : levels_[0].field->containing->name;
  throw Error(Cause::kRefused, std::string(form_.word) + " cannot hold field " + where + " of " + subject)
      .hint("--drop-unknown");
}

void Checker::walk(const MessageType& type, std::string_view bytes) {
  for (Fields fields(bytes); fields.next();) {
    const MessageField* field = type.field_numbered(fields->number);
    if (field == nullptr || !field->fits(fields->wire)) {
      unknown(type, fields->number);
    } else if (field->type == FieldType::kMessage) {
      if (levels_.size() == kDeepestNesting)
        throw Malformed(fields->raw.data(), "messages nested deeper than 100 levels");
      levels_.push_back({field, fields->value});
      walk(*field->message, fields->value);
      levels_.pop_back();
    } else if (field->type == FieldType::kString && !valid_utf8(fields->value)) {
      std::string subject;
      const std::string where = place(field->name, subject);
      if (form_.reading) throw Error(Cause::kInput, where + " is not valid UTF-8").of(subject);
      throw Error(Cause::kRefused,
                  where + " is not valid UTF-8, which " + std::string(form_.word) + " cannot hold")
          .of(subject)
          .hint("-f gtxt keeps it");
    }
  }
  if (form_.expands_any && type.is_any()) look_into_any(bytes);
}

void Checker::look_into_any(std::string_view any) {
  const std::string_view url = last_bytes(any, 1);
  if (url.empty() && last_bytes(any, 2).empty()) return;
  const MessageType* type = find_message_type(url.substr(url.rfind('/') + 1));
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
  walk(*type, last_bytes(any, 2));
  levels_.pop_back();
}

// The path of a field below the innermost node or function, which becomes the subject.
std::string Checker::place(std::string_view last, std::string& subject) const {
  std::string path;
  for (const Level& level : levels_) {
    if (level.field == nullptr) continue;
    const MessageType& type = *level.field->message;
    const std::string name = name_of(type, level.bytes);
    if (!name.empty()) {
      subject = subject.empty() ? name : name + " in " + subject;
      path.clear();
    } else if (level.field->is_map()) {
      path += level.field->name + "[" + printable(map_entry(level.bytes).key) + "].";
    } else {
      path += level.field->name + ".";
    }
  }
  path += last;
  return path;
}

void take_apart(Kind kind, std::string_view message, std::string_view file, Form form, bool drop_unknown,
                Receiver& receiver) {
  try {
    MessageTaker(file, form, drop_unknown, receiver).take(message_type_of(kind), {message});
  } catch (const Malformed& error) {
    rethrow_in(error, message, file);
  } catch (const Error& error) {
    throw error.in(file);
  }
}

}  // namespace gedit
