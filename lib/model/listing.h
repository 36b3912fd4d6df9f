// The listing (.gtxt) of whole files: GraphDefs, MetaGraphDefs and SavedModels, both directions.
#pragma once

#include <string>
#include <string_view>

#include "base/file.h"
#include "graph/listing.h"
#include "model/kind.h"

namespace gedit {

// Writes the serialized `message` as a listing: what it holds, in the order in which it is stored, a node a
// line. Unless `full`, big tensors are only measured. Throws Malformed where the bytes are no protobuf.
void print_listing(Kind kind, std::string_view message, bool full, Sink& out);

struct ParsedListing {
  Kind kind = Kind::kGraphDef;
  std::string message;  // serialized
};

// `file` is named in errors. The data of elided tensors comes from `elided`; without it they are refused.
// Throws Error (kInput): `FILE: line 17: column 9: MESSAGE`.
ParsedListing parse_listing(std::string_view text, std::string_view file, const TensorSource* elided);

}  // namespace gedit
