// Graphs in protobuf's JSON form, read and written a few nodes at a time.
#pragma once

#include <string>
#include <string_view>

#include "base/file.h"
#include "model/kind.h"

namespace gedit {

// Writes `message`, a serialized GraphDef, MetaGraphDef or SavedModel, as protobuf's JSON with TensorFlow's
// own field names (`tensor_content`): one node, function, map entry or other element a line, map entries by
// key. int64 are strings, bytes base64, non-finite floats "NaN", "Infinity"; -0.0 is kept, a NaN's payload is
// not. A google.protobuf.Any is shown as the message in it, where that is one of TensorFlow's; else refused.
// Memory: one piece of 64 KiB, or the largest node. Throws as write_text() does.
void write_json(Kind kind, std::string_view message, std::string_view file, bool drop_unknown, Sink& out);

// The message that `text` means, serialized; fields of the outer levels stay in the order of the text. Both
// `tensor_content` and `tensorContent` are read. A key given twice is refused. Throws Error (kInput),
// `FILE: line 17: column 9: ...`.
std::string parse_json(Kind kind, std::string_view text, std::string_view file);

// One serialized AttrValue as JSON on one line, `{"type":"DT_FLOAT"}`. Unknown fields are left out. Throws
// Error where the bytes are no AttrValue or hold a string that is not UTF-8.
std::string attr_value_json(std::string_view attr_value);

}  // namespace gedit
