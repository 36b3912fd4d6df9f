// Graphs in protobuf text form (.pbtxt), read and written a few nodes at a time.
#pragma once

#include <string>
#include <string_view>

#include "base/file.h"
#include "model/kind.h"

namespace gedit {

// Writes `message`, a serialized GraphDef, MetaGraphDef or SavedModel, as TensorFlow's Python does
// (text_format.MessageToString): fields in the order of their numbers, two blanks a level, map entries by
// key, floats in the fewest digits (`1.0`), strings in UTF-8, bytes with octal escapes. A google.protobuf.Any
// is kept as type_url and value, so that no byte of it is lost; a map's key 0 is written. -0.0, inf and nan
// are kept; a NaN's payload is not. Memory: one piece of 64 KiB, or the largest node. Throws Error: kRefused
// for what text cannot hold (unknown fields, unless they are to be dropped; strings that are not UTF-8),
// kInput where the bytes are no such message. `file` is the name in errors.
void write_text(Kind kind, std::string_view message, std::string_view file, bool drop_unknown, Sink& out);

// The message that `text` means, serialized. Accepts what protobuf's TextFormat accepts, strings over several
// lines aside; fields stay in the order of the text. Throws Error (kInput), `FILE: line 17: column 9: ...`,
// columns in bytes from 1. Memory: the result and one piece of 64 KiB, or the largest node.
std::string parse_text(Kind kind, std::string_view text, std::string_view file);

}  // namespace gedit
