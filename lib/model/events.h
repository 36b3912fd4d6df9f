// TensorBoard's event files: a TFRecord file of Event messages, some of which hold a graph
// (tensorflow/core/lib/io/record_writer.cc, tensorflow/core/util/event.proto).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "model/kind.h"
#include "model/model.h"

namespace gedit {

// Whether the first record is whole as far as its length goes, and looks like an Event; looks at 76 bytes.
enum class Records : uint8_t { kNone, kOther, kEvents };
Records records_in(std::string_view bytes);

// A graph in an Event: serialized, a view into the file.
struct EventGraph {
  Kind kind;  // kGraphDef or kMetaGraphDef
  std::string_view message;
};

struct EventGraphs {
  uint64_t events = 0;              // whole records
  bool cut = false;                 // the last record is not whole: its writer still runs, or was killed
  std::optional<EventGraph> graph;  // the last one, of the wanted kind where one is wanted
};

// Goes over a whole event file and compares every checksum, once over its bytes. Throws Malformed at a
// record whose length or data are not what was written, or that is no Event.
EventGraphs read_events(std::string_view bytes, std::optional<Kind> wanted);

// An event file with the selected graph of the model: the record of the format's version, and one with the
// GraphDef. `wall_time` in seconds since 1970.
void write_events(const Model& model, double wall_time, Sink& out);

// Its name: events.out.tfevents.SECONDS.gedit
std::string event_file_name(double wall_time);

}  // namespace gedit
