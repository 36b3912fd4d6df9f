// The kinds of files that hold a graph, and the forms in which they are written.
#pragma once

#include <cstdint>

namespace gedit {

enum class Kind : uint8_t { kGraphDef, kMetaGraphDef, kSavedModel };

enum class Format : uint8_t {
  kBinary,   // protobuf wire format
  kText,     // protobuf text format (.pbtxt)
  kListing,  // one node a line (.gtxt)
  kJson,     // protobuf JSON, fields named as in TensorFlow's .proto files
};

}  // namespace gedit
