// How well bytes fit a message of graphs: the first fields are held against what each message may have there
// (field numbers, wire types, and the same one or two levels down).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/wire.h"

namespace gedit {

enum class PeekEnd : uint8_t { kWhole, kMore, kCut, kGarbage };

// The first fields of a message, whatever becomes of the rest.
struct Peek {
  std::vector<Field> fields;
  PeekEnd end = PeekEnd::kWhole;
  size_t broken_at = 0;  // kCut, kGarbage: the record that is not whole, the last of `fields` if its tag is
  uint64_t wanted = 0;   // kCut: bytes that it should have
  bool lenient = false;  // fields of other numbers and wire types are unknown fields

  size_t count(uint32_t number) const {
    return static_cast<size_t>(std::count_if(fields.begin(), fields.end(),
                                             [&](const Field& field) { return field.number == number; }));
  }
  size_t count(uint32_t number, Wire wire) const {
    return static_cast<size_t>(std::count_if(fields.begin(), fields.end(), [&](const Field& field) {
      return field.number == number && field.wire == wire;
    }));
  }
};

Peek peek_at(std::string_view bytes);

enum class Fit : uint8_t { kNo, kMaybe, kYes };

// A message or the beginning of one.
struct MessageBytes {
  std::string_view bytes;
  bool cut;
  bool lenient = false;
};

// The peek of a body, nothing where it is no message.
std::optional<Peek> peek_of(const MessageBytes& body);
MessageBytes body_of(const Peek& peek, const Field& field);

bool is_plain_text(std::string_view text);  // without control characters

Fit fit_node(const MessageBytes& body);
Fit fit_op_def(const MessageBytes& body);
Fit fit_function(const MessageBytes& body);
Fit fit_graph(const Peek& peek);
Fit fit_meta_graph(const Peek& peek);
Fit fit_saved_model(const Peek& peek);

}  // namespace gedit
