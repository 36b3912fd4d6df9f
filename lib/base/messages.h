// TensorFlow's messages as proto/ describes them. The descriptions are inside the program, and protobuf makes
// messages of them as it runs; no class is generated. For text and JSON: whatever reads or edits a graph goes
// by the wire form (base/wire.h) instead.
//   const auto op_list = new_message(message_type("tensorflow.OpList"));
//   TextFault fault;
//   if (!parse_message_text(text, *op_list, fault)) throw Error(Cause::kInput, fault.message);
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace google::protobuf {
class Arena;
class Descriptor;
class DescriptorPool;
class Message;
}  // namespace google::protobuf

namespace gedit {

// Protobuf's own limit, for binary and for text: messages within messages.
constexpr int kDeepestNesting = 100;

const google::protobuf::DescriptorPool& message_types();

// By its full name. Throws std::logic_error where proto/ has no such message.
const google::protobuf::Descriptor& message_type(std::string_view full_name);

std::unique_ptr<google::protobuf::Message> new_message(const google::protobuf::Descriptor& type);
google::protobuf::Message& new_message(const google::protobuf::Descriptor& type,
                                       google::protobuf::Arena& arena);

// What a parser or a printer complained of first.
struct TextFault {
  int line = 0, column = 0;  // from 0, as protobuf counts: a tab goes on to the next multiple of 8
  std::string message;       // as this program words things; empty: nothing is wrong

  size_t offset_in(std::string_view text) const;
  std::string with_place() const;  // "line 3: column 7: MESSAGE", both from 1
};

// Both leave the entries of maps sorted by their keys, the last of several with one key, so that messages
// that mean the same are printed and serialized alike. False where the bytes or the text are no such message.
bool parse_message(std::string_view bytes, google::protobuf::Message& message);
bool parse_message_text(std::string_view text, google::protobuf::Message& message, TextFault& fault);

// At every depth. (protobuf's own DiscardUnknownFields leaves out maps that were parsed and not yet looked
// at.)
void drop_unknown_fields(google::protobuf::Message& message);

// Appends the wire bytes. Throws Error (kInput) past 2 GiB.
void append_serialized(std::string& out, const google::protobuf::Message& message);

// A sentence of protobuf's as this program words things: one line, lower case, no full stop.
std::string as_clause(std::string_view sentence);

}  // namespace gedit
