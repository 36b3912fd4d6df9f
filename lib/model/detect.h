// Finds out what a file is from its content, and names it where it holds no graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/kind.h"

namespace gedit {

enum class Content : uint8_t {
  kEmpty,            // no bytes: any message with nothing in it
  kGraph,            // a GraphDef, MetaGraphDef or SavedModel in one of the four formats, perhaps cut short
  kCheckpointIndex,  // the .index of a V2 checkpoint
  kCheckpointV1,     // a V1 checkpoint, or a shard of one
  kCheckpointState,  // the text file `checkpoint`
  kEvents,           // a TensorBoard event file
  kOpList,           // op definitions, binary or text
  kOther,            // anything else
};

// Looks at the first fields, or the first 64 KiB of text, and at the last bytes; never throws.
Content identify(std::string_view bytes);

// The same for whoever asks for nothing that is a binary message: then nothing, and no field is looked at.
// Checkpoints, their state files and event files are none.
std::optional<Content> identify_signs(std::string_view bytes);

struct Detected {
  Kind kind;
  Format format;
};

// The kind and format of a graph's file. The suffix of `path` decides only where the content leaves it open:
// an empty file, text of nothing but comments, a message that is valid as either. A listing is told from
// protobuf text by its first line that only one of them can have (`NAME = OP(`, `node {`); text in doubt,
// such as `versions { producer: 1 }` alone, means the same in both and is taken for protobuf text, unless its
// suffix is .gtxt. Throws Error (kInput): a file that is none of these, named for what it is; a graph that is
// cut short or damaged, with the byte: `FILE: byte 1042: node record is 9000 bytes long, 311 remain`.
Detected detect(std::string_view bytes, std::string_view path);

}  // namespace gedit
