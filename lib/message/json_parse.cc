// Each value becomes a field on the wire, in the order of the text; who gets them writes them as protobuf
// does.
#include <array>
#include <set>

#include "message/fields.h"
#include "message/json.h"
#include "message/json_value.h"

namespace gedit {

void JsonParser::fail_no(const MessageField& field, std::string_view text, size_t start) const {
  fail(start, "'" + printable(text) + "' is not " + std::string(kind_in_json(field)) + ", as '" + field.name +
                  "' is");
}

const MessageField& JsonParser::key(const MessageType& type) {
  if (peek() != '"') fail(at(), "expected a key in double quotes");
  const size_t start = at();
  const std::string_view key = string();
  const MessageField* field = type.field_of_key(key);
  if (field == nullptr) fail(start, "'" + printable(key) + "' is no field of " + type.name);
  expect(':');
  return *field;
}

void JsonParser::read_field(const MessageField& field, std::string& raw) {
  if (takes_null()) return;  // as if it were not there
  if (field.is_map()) return read_map(field, raw);
  if (!field.repeated) return read_value(field, raw);
  for (bool more = opens('['); more; more = goes_on(']')) read_value(field, raw);
}

void JsonParser::read_value(const MessageField& field, std::string& raw) {
  if (field.type != FieldType::kMessage) return read_scalar(field, raw);
  append_message(raw, field.number, [&] { read_message(*field.message, raw); });
}

void JsonParser::read_message(const MessageType& type, std::string& raw) {
  if (++depth_ > kDeepestNesting) fail(at(), "messages nested deeper than 100 levels");
  if (type.is_wrapper()) {
    if (!takes_null()) read_value(type.fields[0], raw);
  } else if (type.is_any()) {
    read_any(type, raw);
  } else {
    read_members(type, opens('{'), {}, raw);
  }
  --depth_;
}

void JsonParser::read_members(const MessageType& type, bool more, std::string_view passed, std::string& raw) {
  std::array<const MessageField*, kMostOneofs> members{};
  each_further_member(type, more, passed, [&](const MessageField& field, size_t start) {
    const size_t before = raw.size();
    read_field(field, raw);
    if (field.oneof < 0 || raw.size() == before) return;
    const MessageField*& member = members[static_cast<size_t>(field.oneof)];
    if (member != nullptr)
      fail(start, "'" + field.name + "' beside '" + member->name + "', of which there is one");
    member = &field;
  });
}

// "@type" may stand anywhere in it, so that it is looked for first.
void JsonParser::read_any(const MessageType& type, std::string& raw) {
  constexpr std::string_view kType = "@type";
  const size_t start = at();
  std::string url;
  bool more = opens('{');
  if (!more) return;
  const size_t inside = at();
  for (bool looking = true; looking; looking = goes_on('}')) {
    const bool found = string() == kType;
    expect(':');
    if (!found) {
      skip_value();
      continue;
    }
    peek();
    url = string();
    break;
  }
  const MessageType* held = find_message_type(std::string_view(url).substr(url.rfind('/') + 1));
  if (url.empty()) fail(start, "no \"@type\" says which message this is");
  if (held == nullptr || url.find('/') == std::string::npos)
    fail(start, "'" + printable(url) + "' is a message that JSON cannot hold");
  seek(inside);
  std::string content;
  if (held->is_wrapper() || held->is_any()) {
    std::set<std::string, std::less<>> given;
    for (; more; more = goes_on('}')) {
      peek();
      const size_t key_at = at();
      const std::string_view key = string();
      const bool is_type = key == kType;
      if (!is_type && key != "value")
        fail(key_at, "'" + printable(key) + "' beside the \"value\" of " + held->name);
      if (!given.insert(std::string(key)).second) fail(key_at, "'" + std::string(key) + "' is given twice");
      expect(':');
      if (is_type) {
        skip_value();
      } else {
        read_message(*held, content);
      }
    }
  } else {
    read_members(*held, more, kType, content);
  }
  append_bytes_field(raw, type.fields[0].number, url);
  std::string canonical;
  append_canonical(canonical, *held, content);
  if (!canonical.empty()) append_bytes_field(raw, type.fields[1].number, canonical);
}

void JsonParser::read_map(const MessageField& field, std::string& raw) {
  const MessageField& key_field = field.message->fields[0];
  const MessageField& value_field = field.message->fields[1];
  std::set<std::string, std::less<>> given;
  for (bool more = opens('{'); more; more = goes_on('}')) {
    if (peek() != '"') fail(at(), "expected a key in double quotes");
    const size_t start = at();
    const std::string key(string());
    if (!given.insert(key).second) fail(start, "'" + printable(key) + "' is given twice");
    append_message(raw, field.number, [&] {
      read_text(key_field, key, true, start, raw);
      expect(':');
      if (!takes_null()) read_value(value_field, raw);
    });
  }
}

void JsonParser::read_scalar(const MessageField& field, std::string& raw) {
  const bool quoted = peek() == '"';
  const size_t start = at();
  const std::string_view text = quoted ? string() : word();
  if (text.empty() && !quoted) fail(start, "expected a value");
  if (!quoted) {
    const bool word = text == "true" || text == "false";
    if (!word && !is_json_number(text)) fail(start, "not valid JSON");
    if (!field.packable()) fail_no(field, text, start);
  }
  read_text(field, text, quoted, start, raw);
}

// A value, or a map's key, which stands in quotes whatever it is.
void JsonParser::read_text(const MessageField& field, std::string_view text, bool quoted, size_t start,
                           std::string& raw) {
  if (field.type == FieldType::kString) return append_bytes_field(raw, field.number, text);
  if (field.type == FieldType::kBytes) {
    const std::optional<std::string> bytes = bytes_from_json(text);
    if (!bytes) fail_no(field, text, start);
    return append_bytes_field(raw, field.number, *bytes);
  }
  append_tag(raw, field.number, field.wire);
  const std::optional<uint64_t> number = number_from_json(field, text, quoted);
  if (!number) fail_no(field, text, start);
  append_number(raw, field.wire, *number);
}

}  // namespace gedit
