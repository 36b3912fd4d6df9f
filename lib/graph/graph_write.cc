// Writing a graph: nodes through their mappings, on all cores, and what nobody edited as it lies there.
#include <algorithm>
#include <functional>
#include <mutex>

#include "base/parallel.h"
#include "graph/graph.h"
#include "graph/prefix.h"

namespace gedit {

namespace {

constexpr uint32_t kGraphLibrary = 2;   // GraphDef.library
constexpr uint32_t kTensorContent = 4;  // TensorProto

// Writes nodes through a mapping; keeps the room for one node from node to node.
class MappedWriter {
 public:
  // `mappings`: held while one is asked that others may ask, too.
  MappedWriter(Sink& sink, uint32_t node_field, std::mutex& mappings)
      : sink_(sink), node_field_(node_field), mappings_(mappings) {}

  void write(std::string_view node_def, const Mapping& mapping, const Prefixing* prefixing, NodeId id) {
    if (prefixing != nullptr && node_field_ == 1 && node_def.size() <= kMostPrefixed &&
        prefixing->prefix.size() <= kLongestPrefix) {
      if (write_prefixed(node_def, *prefixing)) return;
    }
    pieces_.clear();
    {
      const std::lock_guard lock(mappings_);
      map_node(node_def, mapping, pieces_, id);
    }
    head_.clear();
    append_tag(head_, node_field_, Wire::kBytes);
    append_varint(head_, pieces_.size());
    sink_.write(head_);
    pieces_.write(sink_);
  }

 private:
  bool write_prefixed(std::string_view node_def, const Prefixing& prefixing) {
    if (room_.empty()) room_.resize(kPrefixRoom);
    constexpr size_t kHead = 4;  // tag, and a length of at most three bytes, right in front of the node
    char* node = room_.data() + kHead;
    const char* end = prefix_node(node_def, prefixing, node);
    if (end == nullptr) return false;
    const auto size = static_cast<size_t>(end - node);
    char* start = node;
    if (size < 0x80) {
      *--start = static_cast<char>(size);
    } else if (size < 0x4000) {
      *--start = static_cast<char>(size >> 7);
      *--start = static_cast<char>(size | 0x80);
    } else {
      *--start = static_cast<char>(size >> 14);
      *--start = static_cast<char>((size >> 7) | 0x80);
      *--start = static_cast<char>(size | 0x80);
    }
    *--start = 0x0a;
    sink_.write({start, static_cast<size_t>(end - start)});
    return true;
  }

  Sink& sink_;
  uint32_t node_field_;
  std::mutex& mappings_;
  Pieces pieces_;
  std::string head_;
  std::vector<char> room_;
};

// The record of a Const up to its tensor_content of `size` bytes, which is the last field at every level.
std::string head_of_stream(std::string_view node_def, uint32_t node_field, uint64_t size) {
  std::string_view entry;
  std::string head;
  for (Fields fields(node_def); fields.next();) {
    if (fields->bytes(node_field::kAttr) && map_entry(fields->value).key == "value") {
      entry = fields->value;
    } else {
      head += fields->raw;
    }
  }
  const MapEntry value = map_entry(entry);
  std::string tensor(last_bytes(value.value, attr_field::kTensor));
  append_tag(tensor, kTensorContent, Wire::kBytes);
  append_varint(tensor, size);
  // From inside out: each level's length counts what follows.
  const auto within = [&](std::string before, uint32_t number, const std::string& content) {
    append_tag(before, number, Wire::kBytes);
    append_varint(before, content.size() + size);
    return before + content;
  };
  const std::string attr_value = within({}, attr_field::kTensor, tensor);
  std::string key;
  append_bytes_field(key, 1, value.key);
  const std::string node = within(head, node_field::kAttr, within(key, 2, attr_value));
  return within({}, node_field, node);
}

}  // namespace

void Graph::write(Sink& sink, Tally* tally) const {
  if (edited_ && !decoded_) return write_undecoded(sink, tally);
  if (tally != nullptr) *tally = this->tally();
  if (!edited_) return sink.write(message_);
  uint32_t written = 0;
  // Appended nodes follow the last decoded one.
  const auto upto = [&](uint32_t before) { return before == decoded_count_ ? size() : before; };
  for (size_t i = 0; i < parts_.size(); ++i) {
    // A part before the first node stays there even when there was no node at all.
    const uint32_t end = nodes_before_[i] == 0 && parts_[i].field < node_field_ ? 0 : upto(nodes_before_[i]);
    if (end > written) {
      write_nodes(sink, written, end);
      written = end;
    }
    sink.write(parts_[i].raw);
  }
  write_nodes(sink, written, size());
}

namespace {

// Bytes to be written later: those that last are only viewed.
class Segments final : public Sink {
 public:
  void clear() {
    made_.clear();
    segments_.clear();
  }
  void write(std::string_view bytes) override {
    if (bytes.empty()) return;
    if (segments_.empty() || segments_.back().lasting.data() != nullptr)
      segments_.push_back({made_.size(), {}});
    made_ += bytes;
  }
  void write_lasting(std::string_view bytes) override {
    if (!bytes.empty()) segments_.push_back({made_.size(), bytes});
  }

  // Goes on with `run`, lasting bytes that lie one behind the other and are not written yet.
  void write_to(Sink& sink, std::string_view& run) const {
    for (size_t i = 0; i < segments_.size(); ++i) {
      const Segment& segment = segments_[i];
      const std::string_view lasting = segment.lasting;
      if (lasting.data() != nullptr && !run.empty() && run.data() + run.size() == lasting.data()) {
        run = {run.data(), run.size() + lasting.size()};
        continue;
      }
      sink.write(run);
      run = lasting;
      if (lasting.data() != nullptr) continue;
      const size_t end = i + 1 < segments_.size() ? segments_[i + 1].begin : made_.size();
      sink.write(std::string_view(made_).substr(segment.begin, end - segment.begin));
    }
  }

 private:
  struct Segment {
    size_t begin;  // in made_
    std::string_view lasting;
  };
  std::string made_;
  std::vector<Segment> segments_;
};

// Calls encode(piece, sink) for each piece on all cores, and writes what they gave in order.
void write_pieces(size_t pieces, Sink& sink, const std::function<void(size_t, Sink&)>& encode) {
  std::vector<Segments> places(most_at_once());
  std::string_view run;
  pieces_in_order(
      pieces,
      [&](size_t piece, size_t place) {
        places[place].clear();
        encode(piece, places[place]);
      },
      [&](size_t place) { places[place].write_to(sink, run); });
  sink.write(run);
}

}  // namespace

void Graph::write_nodes(Sink& sink, uint32_t begin, uint32_t end) const {
  std::mutex mapping;
  if (!streams_.empty() || end - begin <= 2 * kPerPiece || !mapped())
    return write_nodes_here(sink, begin, end, mapping);
  write_pieces(pieces_of(end - begin), sink, [&](size_t piece, Sink& segments) {
    const size_t from = begin + piece * kPerPiece;
    write_nodes_here(segments, static_cast<uint32_t>(from),
                     static_cast<uint32_t>(std::min<size_t>(from + kPerPiece, end)), mapping);
  });
}

// In this thread. Runs of records as they lie there are one write.
void Graph::write_nodes_here(Sink& sink, uint32_t begin, uint32_t end, std::mutex& mappings) const {
  MappedWriter writer(sink, node_field_, mappings);
  size_t range = 0;
  std::string_view run;  // untouched records that lie one behind the other
  for (uint32_t i = begin; i < end; ++i) {
    while (range + 1 < ranges_.size() && ranges_[range + 1].begin <= i) ++range;
    if (records_[i] == nullptr) continue;
    const Record record = record_at(records_[i]);
    const Mapping* mapping = mapping_of(range, i);
    const NodeId id = ranges_[range].original(i);
    if (const auto stream = streams_.find(i); !streams_.empty() && stream != streams_.end()) {
      sink.write_lasting(run);
      run = {};
      const std::string mapped =
          mapping == nullptr ? std::string() : mapped_node(record.node_def, *mapping, id);
      const std::string_view node_def = mapping == nullptr ? record.node_def : std::string_view(mapped);
      sink.write(head_of_stream(node_def, node_field_, stream->second->size()));
      sink.write_stream(*stream->second);
      continue;
    }
    const Prefixing* prefixing = mapping != nullptr ? mapping->prefixing(id) : nullptr;
    if (mapping != nullptr && !(prefixing != nullptr && prefixing->nothing()) &&
        !mapping->leaves(record.node_def)) {
      sink.write_lasting(run);
      run = {};
      writer.write(record.node_def, *mapping, prefixing, id);
    } else if (!run.empty() && run.data() + run.size() == record.raw.data()) {
      run = {run.data(), run.size() + record.raw.size()};
    } else {
      sink.write_lasting(run);
      run = record.raw;
    }
  }
  sink.write_lasting(run);
}

void Graph::write_undecoded(Sink& sink, Tally* tally) const {
  const Prefixing* prefixing = whole_ == nullptr ? nullptr : whole_->prefixing(kNoNode);
  std::vector<const char*> begins;  // of pieces of the message
  size_t passed = 0;
  for (Fields fields(message_); fields.next(); ++passed) {
    if (passed % kPerPiece == 0) begins.push_back(fields->raw.data());
  }
  std::mutex mapping, counting;
  if (begins.size() <= 2) return write_undecoded_part(message_, prefixing, sink, tally, mapping);
  begins.push_back(message_.data() + message_.size());
  write_pieces(begins.size() - 1, sink, [&](size_t piece, Sink& segments) {
    Tally counted;
    write_undecoded_part({begins[piece], static_cast<size_t>(begins[piece + 1] - begins[piece])}, prefixing,
                         segments, tally == nullptr ? nullptr : &counted, mapping);
    if (tally == nullptr) return;
    const std::lock_guard lock(counting);
    tally->add(counted);
  });
}

// Some fields of the message.
void Graph::write_undecoded_part(std::string_view part, const Prefixing* prefixing, Sink& sink, Tally* tally,
                                 std::mutex& mappings) const {
  MappedWriter writer(sink, node_field_, mappings);
  std::string_view run;  // fields that stay as they are and lie one behind the other
  for (Fields fields(part); fields.next();) {
    const bool node = fields->bytes(node_field_);
    if (tally != nullptr) {
      if (node) {
        tally->add(node_op(fields->value));
      } else if (fields->bytes(kGraphLibrary)) {
        tally->add_library(fields->value);
      }
    }
    if (!node || whole_ == nullptr || (prefixing == nullptr && whole_->leaves(fields->value))) {
      run = {run.empty() ? fields->raw.data() : run.data(), run.size() + fields->raw.size()};
      continue;
    }
    sink.write_lasting(run);
    run = {};
    writer.write(fields->value, *whole_, prefixing, kNoNode);
  }
  sink.write_lasting(run);
}

}  // namespace gedit
