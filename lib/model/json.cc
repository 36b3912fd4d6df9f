// Both ways lean on protobuf's JSON, given a piece at a time. What it prints is cut into lines, what it is to
// read is cut into elements, by a scanner of brackets and strings. It would read `-0` as the integer 0: see
// append_value().
#include "model/json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/strutil.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver_util.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/messages.h"
#include "base/wire.h"
#include "model/transcode.h"

namespace gedit {
namespace {

namespace io = google::protobuf::io;
namespace util = google::protobuf::util;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// The end of the value that starts at `at`: of the string, the bracketed run or the bare word. npos where it
// is never closed; `at` itself where there is no value.
size_t value_end(std::string_view text, size_t at) {
  size_t depth = 0;
  for (size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\') ++i;
      }
      if (i >= text.size()) return std::string_view::npos;
      if (depth == 0) return i + 1;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return i;
      if (--depth == 0) return i + 1;
    } else if (depth == 0 && (c == ',' || c == ':' || is_blank(c))) {
      return i;
    }
  }
  return depth == 0 ? text.size() : std::string_view::npos;
}

// Copies a value; a number `-0` becomes `-0.0`, which is read as the float that it was.
void append_value(std::string& out, std::string_view value) {
  size_t copied = 0;
  for (size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '"') {
      for (++i; i < value.size() && value[i] != '"'; ++i) {
        if (value[i] == '\\') ++i;
      }
    } else if (value[i] == '-' && value.substr(i + 1, 1) == "0" &&
               (i + 2 >= value.size() || value.find_first_of(",]} \t\r\n", i + 2) == i + 2)) {
      out.append(value.substr(copied, i + 2 - copied)).append(".0");
      copied = i + 2;
    }
  }
  out.append(value.substr(copied));
}

std::unique_ptr<util::TypeResolver> make_resolver() {
  return std::unique_ptr<util::TypeResolver>(
      util::NewTypeResolverForDescriptorPool("type.googleapis.com", &message_types()));
}

// On one line. By way of the wire form, whose map entries are sorted.
std::string json_of(const Message& message, util::TypeResolver& resolver) {
  std::string wire, json;
  append_serialized(wire, message);
  util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  const std::string url = "type.googleapis.com/" + message.GetDescriptor()->full_name();
  io::ArrayInputStream in(wire.data(), static_cast<int>(wire.size()));
  io::StringOutputStream out(&json);
  const auto status = util::BinaryToJsonStream(&resolver, url, &in, &out, options);
  if (!status.ok())
    throw Error(Cause::kRefused, "JSON cannot hold this: " + as_clause(status.message().ToString()));
  return json;
}

class JsonWriter final : public Receiver {
 public:
  explicit JsonWriter(Sink& out) : out_(out), resolver_(make_resolver()) {}

  void open() { enter('{'); }
  void close() {
    finish_list();
    leave('}');
    out_.write("\n");
  }

  void begin(const FieldDescriptor& field) override {
    if (!field.is_repeated()) {
      key(field);
    } else {
      list(field, '[');
      next_line();
    }
    enter('{');
  }
  void end(const FieldDescriptor& /*field*/) override {
    finish_list();
    leave('}');
  }

  void print(const FieldDescriptor& field, std::string_view bytes, PartReader& reader,
             std::string& text) const override {
    text = json_of(reader.read(field, bytes), *resolver_);
  }

  void piece(const FieldDescriptor& field, std::string_view json) override {
    // {"field":VALUE}
    const size_t colon = value_end(json, 1);
    if (json == "{}") return;  // a default value, which JSON leaves out
    std::string_view value = json;
    value = value.substr(colon + 1, value.size() - colon - 2);
    if (!field.is_repeated()) {
      key(field);
      write_value(value);
      return;
    }
    list(field, value[0]);
    for (size_t at = 1; at + 1 < value.size();) {
      size_t end = value_end(value, at);
      if (end < value.size() && value[end] == ':') end = value_end(value, end + 1);  // a map entry
      next_line();
      write_value(value.substr(at, end - at));
      at = end + 1;
    }
  }

 private:
  void write_value(std::string_view value) {
    line_.clear();
    append_value(line_, value);
    out_.write(line_);
  }

  void enter(char bracket) {
    out_.write({&bracket, 1});
    levels_.push_back({});
  }
  void leave(char bracket) {
    const bool empty = levels_.back().empty;
    levels_.pop_back();
    if (!empty) {
      out_.write("\n");
      indent();
    }
    out_.write({&bracket, 1});
  }
  void next_line() {
    out_.write(levels_.back().empty ? "\n" : ",\n");
    levels_.back().empty = false;
    indent();
  }
  void indent() { out_.write(std::string(levels_.size(), ' ')); }

  void key(const FieldDescriptor& field) {
    finish_list();
    next_line();
    out_.write("\"" + field.name() + "\": ");
  }
  // Goes on with the list (or map) of this field, or starts it.
  void list(const FieldDescriptor& field, char bracket) {
    if (levels_.back().list_of == &field) return;
    key(field);
    enter(bracket);
    levels_.back().list_of = &field;
    levels_.back().closer = bracket == '[' ? ']' : '}';
  }
  void finish_list() {
    if (levels_.back().list_of != nullptr) leave(levels_.back().closer);
  }

  struct Level {
    bool empty = true;
    const FieldDescriptor* list_of = nullptr;  // set: the elements of this field
    char closer = 0;
  };

  Sink& out_;
  std::unique_ptr<util::TypeResolver> resolver_;
  std::vector<Level> levels_;
  std::string line_;
};

const FieldDescriptor* field_named(const Descriptor& type, std::string_view key) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* field = type.field(i);
    if (key == field->name() || key == field->json_name()) return field;
  }
  return nullptr;
}

class JsonReader {
 public:
  JsonReader(std::string_view text, std::string_view file) : text_(text), file_(file), assembler_("JSON") {
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;
  }

  std::string read(const Descriptor& type) {
    skip_blank();
    read_object(type);
    skip_blank();
    if (at_ != text_.size()) fail(at_, "more after the end of the JSON object");
    return assembler_.take();
  }

 private:
  // Goes as deep as opened messages do.
  void read_object(const Descriptor& type) {
    const size_t opened_at = at_;
    expect('{');
    std::set<const FieldDescriptor*> seen;
    for (bool first = true; !closes('}', first, opened_at); first = false) {
      const size_t key_at = at_;
      if (at_ == text_.size() || text_[at_] != '"') fail(at_, "expected a key in double quotes");
      const std::string_view quoted_key = value();
      const std::string_view key = quoted_key.substr(1, quoted_key.size() - 2);
      skip_blank();
      expect(':');
      skip_blank();
      const FieldDescriptor* field = field_named(type, key);
      if (field == nullptr) fail(key_at, "'" + printable(key) + "' is no field of " + type.name());
      if (!seen.insert(field).second) fail(key_at, "'" + printable(key) + "' is given twice");
      read_field(type, *field);
    }
  }

  void read_field(const Descriptor& type, const FieldDescriptor& field) {
    const bool opens = leads_to_opened(field);
    if ((opens || field.is_repeated()) && text_.substr(at_, 4) == "null") {
      at_ += 4;  // protobuf: as if it were not there
    } else if (opens && !field.is_repeated()) {
      read_message(field);
    } else if (field.is_repeated() && !field.is_map()) {
      read_list(type, field, opens);
    } else {
      const size_t start = at_;
      parse(type, field, start, "", value(), "");
    }
  }

  void read_message(const FieldDescriptor& field) {
    const size_t begin = assembler_.begin();
    read_object(*field.message_type());
    assembler_.end(field, begin);
  }

  void read_list(const Descriptor& type, const FieldDescriptor& field, bool opens) {
    const size_t opened_at = at_;
    expect('[');
    size_t start = at_, end = at_;  // of elements that have not been parsed yet
    const auto flush = [&] {
      if (end > start) parse(type, field, start, "[", text_.substr(start, end - start), "]");
      start = end;
    };
    for (bool first = true; !closes(']', first, opened_at); first = false) {
      if (opens) {
        read_message(field);
        continue;
      }
      if (end == start) start = at_;
      (void)value();
      end = at_;
      if (end - start > kPieceBytes) flush();
    }
    flush();
  }

  // Past a comma, or past the bracket, in which case there is nothing more.
  bool closes(char bracket, bool first, size_t opened_at) {
    skip_blank();
    if (at_ == text_.size()) fail(opened_at, std::string("no '") + bracket + "' closes this");
    if (text_[at_] == bracket) {
      ++at_;
      return true;
    }
    if (!first) {
      if (text_[at_] != ',') fail(at_, std::string("expected ',' or '") + bracket + "'");
      ++at_;
      skip_blank();
    }
    return false;
  }

  void expect(char c) {
    if (at_ == text_.size() || text_[at_] != c) fail(at_, std::string("expected '") + c + "'");
    ++at_;
  }

  std::string_view value() {
    const size_t start = at_;
    const size_t end = value_end(text_, at_);
    if (end == std::string_view::npos) fail(start, "nothing closes what opens here");
    if (end == start) fail(start, "expected a value");
    at_ = end;
    return text_.substr(start, end - start);
  }

  void skip_blank() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }

  // Parses {"field": BEFORE values AFTER}.
  void parse(const Descriptor& type, const FieldDescriptor& field, size_t start, std::string_view before,
             std::string_view values, std::string_view after) {
    if (values.size() > INT_MAX) fail(start, "a value of over 2 GiB");
    json_.assign("{\"").append(field.name()).append("\":").append(before);
    append_value(json_, values);
    json_.append(after).append("}");
    Message& part = arena_.make(type);
    const auto status = util::JsonStringToMessage(json_, &part);
    if (!status.ok()) explain(field, start, before, values, status.message().ToString());
    try {
      assembler_.append(part);
    } catch (const Error& error) {
      throw error.in(file_);
    }
  }

  // Finds out which value it was, and whether it is JSON at all.
  [[noreturn]] void explain(const FieldDescriptor& field, size_t start, std::string_view before,
                            std::string_view values, const std::string& complaint) {
    if (before.empty()) refuse(start, values, complaint);
    PieceArena arena;
    for (size_t at = 0; at < values.size();) {
      const size_t end = value_end(values, at);
      const std::string_view one = values.substr(at, end - at);
      Message& part = arena.make(*field.containing_type());
      json_.assign("{\"").append(field.name()).append("\":[").append(one).append("]}");
      const auto status = util::JsonStringToMessage(json_, &part);
      if (!status.ok()) refuse(start + at, one, status.message().ToString());
      at = end;
      while (at < values.size() && (is_blank(values[at]) || values[at] == ',')) ++at;
    }
    refuse(start, values, complaint);
  }

  [[noreturn]] void refuse(size_t start, std::string_view value, const std::string& complaint) {
    try {
      [[maybe_unused]] const auto valid = nlohmann::json::parse(value);
    } catch (const nlohmann::json::parse_error& error) {
      fail(start + std::min(error.byte == 0 ? 0 : error.byte - 1, value.size()), "not valid JSON");
    }
    fail(start, as_clause(complaint));
  }

  [[noreturn]] void fail(size_t offset, std::string message) const {
    throw error_at(text_, offset, file_, std::move(message));
  }

  std::string_view text_;
  std::string_view file_;
  size_t at_ = 0;
  std::string json_;
  PieceArena arena_;
  Assembler assembler_;
};

}  // namespace

void write_json(Kind kind, std::string_view message, std::string_view file, bool drop_unknown, Sink& out) {
  JsonWriter writer(out);
  writer.open();
  take_apart(kind, message, file, {.word = "JSON", .expands_any = true}, drop_unknown, writer);
  writer.close();
}

std::string parse_json(Kind kind, std::string_view text, std::string_view file) {
  return JsonReader(text, file).read(descriptor_of(kind));
}

std::string attr_value_json(std::string_view attr_value) {
  const Descriptor& type = message_type("tensorflow.AttrValue");
  Checker({.word = "JSON", .expands_any = true}, true).check(type, attr_value);
  const auto value = new_message(type);
  if (!parse_message(attr_value, *value)) throw Malformed(attr_value.data(), "not an AttrValue");
  // The four kinds that most attributes are of, without setting up protobuf's JSON for each.
  const google::protobuf::Reflection& reflection = *value->GetReflection();
  const FieldDescriptor* field = reflection.GetOneofFieldDescriptor(*value, type.FindOneofByName("value"));
  const std::string_view kind = field == nullptr ? std::string_view() : std::string_view(field->name());
  if (kind == "s") {
    std::string base64;
    google::protobuf::Base64Escape(reflection.GetString(*value, field), &base64);
    return R"({"s":")" + base64 + R"("})";
  }
  if (kind == "i") return R"({"i":")" + std::to_string(reflection.GetInt64(*value, field)) + R"("})";
  if (kind == "b") return reflection.GetBool(*value, field) ? R"({"b":true})" : R"({"b":false})";
  if (kind == "type") {
    const int number = reflection.GetEnumValue(*value, field);
    if (const auto* dtype = field->enum_type()->FindValueByNumber(number))
      return R"({"type":")" + dtype->name() + R"("})";
  }
  drop_unknown_fields(*value);
  std::string json;
  append_value(json, json_of(*value, *make_resolver()));
  return json;
}

}  // namespace gedit
