// The kinds of files that hold a graph, and the forms in which they are written.
#pragma once

#include <cstdint>
#include <string_view>

namespace gedit {

enum class Kind : uint8_t { kGraphDef, kMetaGraphDef, kSavedModel };

std::string_view kind_word(Kind kind);  // "GraphDef"

enum class Format : uint8_t {
  kBinary,   // protobuf wire format
  kText,     // protobuf text format (.pbtxt)
  kListing,  // one node a line (.gtxt)
  kJson,     // protobuf JSON, fields named as in TensorFlow's .proto files
};

}  // namespace gedit
