// Messages inside a listing that stand there as protobuf text, or as `raw "bytes"` where text cannot hold
// them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "graph/scanner.h"

namespace gedit {

enum class TextMessage : uint8_t {
  kAny,
  kArgDef,
  kAssetFileDef,
  kCondContextDef,
  kFunctionDef,
  kGraphDebugInfo,
  kMetaInfoDef,
  kNodeDef,
  kOpDef,
  kQueueRunnerDef,
  kSavedConcreteFunction,
  kSavedModel,
  kSavedObject,
  kSaverDef,
  kSignatureDef,
  kTensorProto,
  kTrackableObjectGraph,
  kVariableDef,
  kVersionDef,
  kWhileContextDef,
};

// Appends `message` as protobuf text on one line. False, with nothing appended, where the text would not read
// back to an equal message: unknown fields at any depth, strings that are not UTF-8, odd NaNs, over 100
// levels. `same_bytes`: also where it would not read back to these very bytes.
bool try_text(std::string& out, TextMessage type, std::string_view message, bool same_bytes = false);

// The message as it reads back from text: without explicit defaults. Verbatim where text cannot hold it.
std::string normalized(TextMessage type, std::string_view message);

// The text of `message`, or `raw "bytes"`; nothing for an empty one. Throws Malformed where it is no
// protobuf.
void print_text(std::string& out, TextMessage type, std::string_view message);

// The same in braces: `{ text }`, `{ raw "bytes" }`, `{}`.
void print_block(std::string& out, TextMessage type, std::string_view message);

// The message (serialized, maps in the order of their keys) that text up to `closing` stands for; see
// Scanner::text().
std::string parse_text(Scanner& scanner, TextMessage type, char closing);
std::string parse_block(Scanner& scanner, TextMessage type);

// `raw "bytes"`, if that is next.
bool accept_raw(Scanner& scanner, std::string& bytes);

}  // namespace gedit
