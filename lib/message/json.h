// Protobuf's JSON of small messages, both ways: field names as proto/ spells them, int64 in quotes, bytes in
// base64, the message within a google.protobuf.Any beside its "@type", a google.protobuf.BoolValue as true or
// false.
#pragma once

#include <bitset>
#include <string>
#include <string_view>
#include <utility>

#include "message/json_tokens.h"
#include "message/type.h"

namespace gedit {

// Appends the message (append_canonical's) as an object on one line, without blanks. Unknown fields are left
// out, and of an Any what is in it where proto/ does not know that message. Throws Malformed.
void print_message_json(std::string& out, const MessageType& type, std::string_view bytes);

// Appends the values of one field of `fields`, a message or a part of one, a line each: elements,
// `"key":value` for entries of a map, or the one value. Nothing where it is not set. Throws Malformed.
void print_json_lines(std::string& out, const MessageField& field, std::string_view fields);

// Reads messages from JSON. Throws TextFault.
class JsonParser : public JsonTokens {
 public:
  using JsonTokens::JsonTokens;

  // Goes over an object's keys: use(field, start) with its place in the text reads the value. A key twice is
  // refused.
  template <typename Use>
  void each_member(const MessageType& type, Use use);

  // Each appends fields on the wire, in the order of the text.
  void read_field(const MessageField& field, std::string& raw);  // the value of a key: one, a list or a map
  void read_value(const MessageField& field, std::string& raw);  // one value or element
  void read_message(const MessageType& type, std::string& raw);

 private:
  const MessageField& key(const MessageType& type);  // and its colon
  template <typename Use>
  void each_further_member(const MessageType& type, bool more, std::string_view passed, Use use);
  void read_members(const MessageType& type, bool more, std::string_view passed, std::string& raw);
  void read_any(const MessageType& type, std::string& raw);
  void read_map(const MessageField& field, std::string& raw);
  void read_scalar(const MessageField& field, std::string& raw);
  void read_text(const MessageField& field, std::string_view text, bool quoted, size_t start,
                 std::string& raw);
  [[noreturn]] void fail_no(const MessageField& field, std::string_view text, size_t start) const;

  int depth_ = 0;
};

// ---------------------------------------------------------------------------------------------------------------------

template <typename Use>
void JsonParser::each_member(const MessageType& type, Use use) {
  each_further_member(type, opens('{'), {}, use);
}

// Of an object that has been opened; `more` says whether there is another one. The value of the key `passed`
// is known already.
template <typename Use>
void JsonParser::each_further_member(const MessageType& type, bool more, std::string_view passed, Use use) {
  std::bitset<kWidestMessage> given;
  bool passed_given = false;
  for (; more; more = goes_on('}')) {
    peek();
    const size_t start = at();
    if (!passed.empty() && string() == passed) {
      if (std::exchange(passed_given, true)) fail(start, "'" + std::string(passed) + "' is given twice");
      expect(':');
      skip_value();
      continue;
    }
    seek(start);
    const MessageField& field = key(type);
    if (given[field.place]) fail(start, "'" + field.name + "' is given twice");
    given[field.place] = true;
    use(field, start);
  }
}

}  // namespace gedit
