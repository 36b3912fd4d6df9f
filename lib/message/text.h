// Protobuf text (TextFormat) of small messages, both ways.
//   std::string text, bytes;
//   print_message_text(text, message_type("tensorflow.NodeDef"), node_def, TextStyle::kLine);
//   const auto fault = parse_message_text(text, message_type("tensorflow.NodeDef"), bytes);
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "message/text_fault.h"
#include "message/type.h"

namespace gedit {

enum class TextStyle : uint8_t {
  kLine,   // one line, as C++ writes it: numbers in few digits, what is not ASCII in octal
  kLines,  // as Python's MessageToString: a field a line, two blanks a level, floats as its repr, strings in
           // UTF-8
};

// Appends the fields of the message (append_canonical's), `depth` levels deep; a google.protobuf.Any as
// type_url and value. kLine has no blank at its end. Unknown fields are left out. Throws Malformed.
void print_message_text(std::string& out, const MessageType& type, std::string_view bytes, TextStyle style,
                        int depth = 0);

// Appends the message that `text` means, as append_canonical() does. Accepts what protobuf's parser accepts,
// but for strings that go over lines; nothing is appended where something is wrong. `[URL] { ... }` in a
// google.protobuf.Any is one of TensorFlow's messages.
std::optional<TextFault> parse_message_text(std::string_view text, const MessageType& type,
                                            std::string& bytes);

}  // namespace gedit
