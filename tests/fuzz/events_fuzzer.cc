// Any bytes as an event file: refused in one line, or a graph in it is one.
#include "fuzzed.h"
#include "model/events.h"

namespace gedit {

void fuzz_events(const uint8_t* data, size_t size) {
  const std::string_view bytes = as_text(data, size);
  records_in(bytes);
  try {
    const EventGraphs found = read_events(bytes, std::nullopt);
    if (found.graph) accepted([&] { written(model_of_bytes(found.graph->kind, found.graph->message)); });
  } catch (const Malformed&) {  // refusing is right; crashing is not
  }
}

}  // namespace gedit
