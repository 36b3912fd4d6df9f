// What stands at the outer levels comes a line each, what is below on one line.
#include "model/json.h"

#include <utility>
#include <vector>

#include "base/wire.h"
#include "message/fields.h"
#include "message/json.h"
#include "model/transcode.h"

namespace gedit {
namespace {

class JsonWriter final : public Receiver {
 public:
  explicit JsonWriter(Sink& out) : out_(out) {}

  void open() { enter('{'); }
  void close() {
    finish_list();
    leave('}');
    out_.write("\n");
  }

  void begin(const MessageField& field) override {
    if (!field.repeated) {
      key(field);
    } else {
      list(field);
      next_line();
    }
    enter('{');
  }
  void end(const MessageField& /*field*/) override {
    finish_list();
    leave('}');
  }

  void print(const MessageField& field, std::string_view bytes, std::string& text) const override {
    print_json_lines(text, field, bytes);
  }

  void piece(const MessageField& field, std::string_view lines) override {
    while (!lines.empty()) {
      const size_t end = lines.find('\n');
      if (field.repeated) {
        list(field);
        next_line();
      } else {
        key(field);
      }
      out_.write(lines.substr(0, end));
      lines.remove_prefix(end + 1);
    }
  }

 private:
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

  void key(const MessageField& field) {
    finish_list();
    next_line();
    out_.write("\"" + field.name + "\": ");
  }
  // Goes on with the list (or map) of this field, or starts it.
  void list(const MessageField& field) {
    if (levels_.back().list_of == &field) return;
    key(field);
    enter(field.is_map() ? '{' : '[');
    levels_.back().list_of = &field;
  }
  void finish_list() {
    if (levels_.back().list_of != nullptr) leave(levels_.back().list_of->is_map() ? '}' : ']');
  }

  struct Level {
    bool empty = true;
    const MessageField* list_of = nullptr;  // set: the elements of this field
  };

  Sink& out_;
  std::vector<Level> levels_;
};

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : json_(text) { json_.skip_mark(); }

  std::string read(const MessageType& type) {
    read_object(type);
    if (!json_.at_end()) json_.fail(json_.at(), "more after the end of the JSON object");
    return std::move(bytes_);
  }

 private:
  // Goes as deep as opened messages do.
  void read_object(const MessageType& type) {
    json_.each_member(type, [&](const MessageField& field, size_t /*start*/) { read_field(type, field); });
  }

  void read_field(const MessageType& type, const MessageField& field) {
    const bool opens = leads_to_opened(field);
    if (json_.takes_null()) return;  // as if it were not there
    if (opens && !field.repeated) return read_message(field);
    if (field.type != FieldType::kMessage || !field.repeated || field.is_map()) {
      std::string raw;
      json_.read_field(field, raw);
      return append(type, raw);
    }
    for (bool more = json_.opens('['); more; more = json_.goes_on(']')) {
      if (opens) {
        read_message(field);
        continue;
      }
      std::string raw;
      json_.read_value(field, raw);
      append(type, raw);
    }
  }

  void read_message(const MessageField& field) {
    append_message(bytes_, field.number, [&] { read_object(*field.message); });
  }

  void append(const MessageType& type, std::string_view raw) { append_canonical(bytes_, type, raw); }

  JsonParser json_;
  std::string bytes_;
};

}  // namespace

void write_json(Kind kind, std::string_view message, std::string_view file, bool drop_unknown, Sink& out) {
  JsonWriter writer(out);
  writer.open();
  take_apart(kind, message, file, {.word = "JSON", .expands_any = true}, drop_unknown, writer);
  writer.close();
}

std::string parse_json(Kind kind, std::string_view text, std::string_view file) {
  try {
    return JsonReader(text).read(message_type_of(kind));
  } catch (const TextFault& fault) {
    throw error_at(text, fault.offset, file, fault.message);
  }
}

std::string attr_value_json(std::string_view attr_value) {
  const MessageType& type = message_type("tensorflow.AttrValue");
  Checker({.word = "JSON", .expands_any = true}, true).check(type, attr_value);
  std::string json;
  print_message_json(json, type, attr_value);
  return json;
}

}  // namespace gedit
