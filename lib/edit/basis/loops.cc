#include "edit/basis/loops.h"

#include <string>

#include "base/error.h"

namespace gedit {
namespace {

constexpr uint32_t kRoot = 0;

uint32_t frame_of(const LoopTensor& tensor) {
  return tensor.node == kNoNode ? kRoot : tensor.facts.frames().of_output(tensor.node);
}

// `'a/b' is inside loop 'a/while_context'`
std::string place(const LoopTensor& tensor, uint32_t frame) {
  const std::string name = "'" + printable(tensor.name) + "'";
  if (frame == kRoot) return name + " is in no loop";
  return name + " is inside loop '" + printable(tensor.facts.frames().frame(frame).name) + "'";
}

}  // namespace

void check_loops(const LoopTensor& key, const LoopTensor& value, bool together) {
  const uint32_t from = frame_of(key), to = frame_of(value);
  if (from == to && (together || from == kRoot)) return;
  throw refused(place(key, from) + ", " + place(value, to))
      .of("input map")
      .hint(from != kRoot ? "map what enters the loop, or its Exit" : "take the loop's Exit");
}

}  // namespace gedit
