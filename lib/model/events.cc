#include "model/events.h"

#include <algorithm>
#include <bit>

#include "base/crc32c.h"
#include "base/packed.h"
#include "base/wire.h"

namespace gedit {
namespace {

namespace event_field {
constexpr uint32_t kWallTime = 1, kFileVersion = 3, kGraphDef = 4, kMetaGraphDef = 9;
}

// A record is its length, the checksum of these eight bytes, the data, the checksum of the data.
constexpr size_t kLength = 8, kChecksum = 4, kHead = kLength + kChecksum;

uint32_t checksum_at(std::string_view bytes) {
  return static_cast<uint32_t>(little_endian(bytes.substr(0, kChecksum)));
}

void append_fixed(std::string& out, uint64_t value, size_t width) {
  for (size_t i = 0; i < width; ++i) out += static_cast<char>(value >> (8 * i));
}

// Sums up what passes.
class ChecksumSink final : public Sink {
 public:
  explicit ChecksumSink(Sink& out) : out_(out) {}
  void write(std::string_view bytes) override {
    crc_ = crc32c(crc_, bytes);
    out_.write(bytes);
  }
  uint32_t masked_checksum() const { return masked(crc_); }

 private:
  Sink& out_;
  uint32_t crc_ = 0;
};

// One record of `size` bytes, which write(sink) puts out.
template <typename Write>
void write_record(uint64_t size, Sink& out, Write write) {
  std::string head;
  append_fixed(head, size, kLength);
  append_fixed(head, masked(crc32c(head)), kChecksum);
  out.write(head);
  ChecksumSink data(out);
  write(data);
  std::string tail;
  append_fixed(tail, data.masked_checksum(), kChecksum);
  out.write(tail);
}

std::string event_at(double wall_time) {
  std::string event;
  append_tag(event, event_field::kWallTime, Wire::kFixed64);
  append_fixed(event, std::bit_cast<uint64_t>(wall_time), 8);
  return event;
}

}  // namespace

Records records_in(std::string_view bytes) {
  if (bytes.size() < kHead) return Records::kNone;
  const uint64_t length = little_endian(bytes.substr(0, kLength));
  if (checksum_at(bytes.substr(kLength)) != masked(crc32c(bytes.substr(0, kLength)))) return Records::kNone;
  // The first event tells the version of the format; or it begins with its time, as all do.
  const std::string_view data = bytes.substr(kHead, std::min(length, uint64_t{64}));
  const bool events =
      data.find("brain.Event:") != std::string_view::npos || data.starts_with('\x09') || data.empty();
  return events ? Records::kEvents : Records::kOther;
}

EventGraphs read_events(std::string_view bytes, std::optional<Kind> wanted) {
  EventGraphs found;
  while (!bytes.empty()) {
    found.cut = true;
    if (bytes.size() < kHead) break;
    const uint64_t length = little_endian(bytes.substr(0, kLength));
    if (checksum_at(bytes.substr(kLength)) != masked(crc32c(bytes.substr(0, kLength))))
      throw Malformed(bytes.data(), "the checksum of a record's length differs");
    if (bytes.size() - kHead < kChecksum || bytes.size() - kHead - kChecksum < length) break;
    const std::string_view data = bytes.substr(kHead, length);
    if (checksum_at(bytes.substr(kHead + length)) != masked(crc32c(data)))
      throw Malformed(data.data(), "the checksum of a record differs");
    for (Fields event(data); event.next();) {
      const bool meta_graph = event->bytes(event_field::kMetaGraphDef);
      if ((!meta_graph && !event->bytes(event_field::kGraphDef)) || event->value.empty()) continue;
      const Kind kind = meta_graph ? Kind::kMetaGraphDef : Kind::kGraphDef;
      if (wanted.value_or(kind) == kind) found.graph = {kind, event->value};
    }
    ++found.events;
    found.cut = false;
    bytes.remove_prefix(kHead + length + kChecksum);
  }
  return found;
}

void write_events(const Model& model, double wall_time, Sink& out) {
  std::string version = event_at(wall_time);
  append_bytes_field(version, event_field::kFileVersion, "brain.Event:2");
  write_record(version.size(), out, [&](Sink& sink) { sink.write(version); });
  Counter graph;
  model.graph().write(graph);
  std::string head = event_at(wall_time);
  append_tag(head, event_field::kGraphDef, Wire::kBytes);
  append_varint(head, graph.size());
  write_record(head.size() + graph.size(), out, [&](Sink& sink) {
    sink.write(head);
    model.graph().write(sink);
  });
}

std::string event_file_name(double wall_time) {
  return "events.out.tfevents." + std::to_string(static_cast<int64_t>(wall_time)) + ".gedit";
}

}  // namespace gedit
