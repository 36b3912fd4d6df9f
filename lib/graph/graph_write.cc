// Writing a graph: nodes through their mappings, and what nobody edited as it lies there.

#include <algorithm>
#include <utility>

#include "base/parallel.h"
#include "graph/graph.h"
#include "graph/prefix.h"

namespace gedit {

namespace {

constexpr uint32_t kGraphLibrary = 2;            // GraphDef.library
constexpr uint32_t kTensorContent = 4;           // TensorProto
constexpr size_t kLongestRun = size_t{4} << 20;  // is handed on, to be written while the next is looked for

// Writes nodes through a mapping; keeps the room for one node from node to node.
class MappedWriter {
 public:
  MappedWriter(Sink& sink, uint32_t node_field) : sink_(sink), node_field_(node_field) {}

  void write(std::string_view node_def, const Mapping& mapping, const Prefixing* prefixing, NodeId id) {
    if (prefixing != nullptr && write_prefixed(node_def, *prefixing)) return;
    pieces_.clear();
    map_node(node_def, mapping, pieces_, id);
    head_.clear();
    append_tag(head_, node_field_, Wire::kBytes);
    append_varint(head_, pieces_.size());
    sink_.write(head_);
    pieces_.write(sink_);
  }

  // Whether that was all to be done, by several threads, each with a writer of its own.
  bool write_rewritten(std::string_view node_def, const Mapping& mapping, NodeId id) {
    const NodeParts parts = mapping.rewritten(id, node_def);
    const size_t size = size_of(parts);
    if (size == 0) return false;
    head_.clear();
    append_tag(head_, node_field_, Wire::kBytes);
    append_varint(head_, size);
    sink_.write(head_);
    for (const std::string_view part : parts) sink_.write(part);
    return true;
  }
  bool write_prefixed(std::string_view node_def, const Prefixing& prefixing) {
    if (node_field_ != 1 || node_def.size() > kMostPrefixed || prefixing.prefix.size() > kLongestPrefix)
      return false;
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

 private:
  Sink& sink_;
  uint32_t node_field_;
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

// What some nodes in a row are written as, as far as one thread among several can tell: what needs a mapping
// that does more than prefix, or a stream, is left to the one that writes.
class WrittenPiece final : public Sink {
 public:
  void clear() {
    text_.clear();
    left_.clear();
    run_ = {};
    too_long_ = false;
  }

  void write(std::string_view bytes) override {
    if (!run_.empty()) append(std::exchange(run_, {}));
    append(bytes);
  }
  // Bytes that stay where they are.
  void write_run(std::string_view run) {
    if (text_.empty() && run_.empty() && left_.empty()) {
      run_ = run;
    } else {
      write(run);
    }
  }
  void leave(uint32_t node) {
    write({});
    if (!left_.empty() && left_.back().at == text_.size() && left_.back().end == node) {
      ++left_.back().end;
    } else {
      left_.push_back({text_.size(), node, node + 1});
    }
  }

  // If it is nothing but bytes that lie somewhere else: these.
  std::string_view run() const { return run_; }
  bool too_long() const { return too_long_; }
  // Calls write(text), and nodes(begin, end) for what was left, in order.
  template <typename Write, typename Nodes>
  void each(Write write, Nodes nodes) const {
    size_t at = 0;
    for (const Left& left : left_) {
      write(std::string_view(text_).substr(at, left.at - at));
      nodes(left.begin, left.end);
      at = left.at;
    }
    write(std::string_view(text_).substr(at));
  }

 private:
  static constexpr size_t kLongest = size_t{4} << 20;
  struct Left {
    size_t at;  // in the text
    uint32_t begin, end;
  };

  void append(std::string_view bytes) {
    too_long_ = too_long_ || text_.size() + bytes.size() > kLongest;
    if (!too_long_) text_.append(bytes);
  }

  std::string text_;
  std::vector<Left> left_;
  std::string_view run_;
  bool too_long_ = false;
};

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

void Graph::write_nodes(Sink& sink, uint32_t begin, uint32_t end) const {
  constexpr uint32_t kNodes = 2048;
  if (thread_count() == 1 || end - begin < 4 * kNodes) return write_some(sink, begin, end);
  const size_t count = pieces_of(end - begin, kNodes);
  std::vector<WrittenPiece> pieces(places_for(count));
  std::string_view run;  // of whole pieces
  uint32_t next = begin;
  in_order(
      count,
      [&](size_t i, size_t place) {
        const auto first = begin + static_cast<uint32_t>(i) * kNodes;
        pieces[place].clear();
        write_piece(pieces[place], first, std::min(end, first + kNodes));
      },
      [&](size_t place) {
        const WrittenPiece& piece = pieces[place];
        const uint32_t first = std::exchange(next, std::min(end, next + kNodes));
        if (!piece.run().empty() && run.size() < kLongestRun && run.end() == piece.run().begin()) {
          run = {run.data(), run.size() + piece.run().size()};
          return;
        }
        sink.write(std::exchange(run, piece.run()));
        if (piece.too_long()) return write_some(sink, first, next);
        piece.each([&](std::string_view text) { sink.write(text); },
                   [&](uint32_t left, uint32_t behind) { write_some(sink, left, behind); });
      });
  sink.write(run);
}

size_t Graph::range_of(uint32_t node) const {
  const auto behind = std::ranges::upper_bound(ranges_, node, {}, &Range::begin);
  return static_cast<size_t>(behind - ranges_.begin()) - 1;
}

namespace {

// A node that is not written as it lies there.
struct EditedNode {
  uint32_t number;
  std::string_view node_def;
  const Mapping* mapping;      // or null
  const Prefixing* prefixing;  // where the mapping does no more than that
  NodeId original;             // by which the mapping knows it
  const Stream* stream;        // of its value, or null
};

}  // namespace

template <typename Stays, typename Edited>
void Graph::each_written(uint32_t begin, uint32_t end, Stays stays, Edited edited) const {
  constexpr uint32_t kAhead = 16;  // the heads of the next records are on their way from memory
  size_t range = range_of(begin);
  std::string_view run;
  for (uint32_t i = begin; i < end; ++i) {
    while (range + 1 < ranges_.size() && ranges_[range + 1].begin <= i) ++range;
    if (i + kAhead < end) __builtin_prefetch(nodes_.records[i + kAhead]);
    if (nodes_.records[i] == nullptr) continue;
    const Record record = record_at(nodes_.records[i]);
    const NodeId id = ranges_[range].original(i);
    const Mapping* mapping = mapping_of(range, i);
    const Prefixing* prefixing = mapping != nullptr ? mapping->prefixing(id) : nullptr;
    const auto stream = streams_.empty() ? streams_.end() : streams_.find(i);
    if (stream == streams_.end() &&
        (mapping == nullptr || does_nothing(prefixing) || mapping->leaves(record.node_def))) {
      if (run.empty() || run.end() != record.raw.begin()) {
        stays(std::exchange(run, record.raw));
      } else {
        run = {run.data(), run.size() + record.raw.size()};
      }
      continue;
    }
    stays(std::exchange(run, {}));
    edited(EditedNode{i, record.node_def, mapping, prefixing, id,
                      stream == streams_.end() ? nullptr : stream->second.get()});
  }
  stays(run);
}

void Graph::write_piece(WrittenPiece& piece, uint32_t begin, uint32_t end) const {
  MappedWriter writer(piece, node_field_);
  each_written(
      begin, end, [&](std::string_view run) { piece.write_run(run); },
      [&](const EditedNode& node) {
        if (node.stream != nullptr) return piece.leave(node.number);
        const bool written = node.prefixing != nullptr
                                 ? writer.write_prefixed(node.node_def, *node.prefixing)
                                 : writer.write_rewritten(node.node_def, *node.mapping, node.original);
        if (!written) piece.leave(node.number);
      });
}

void Graph::write_some(Sink& sink, uint32_t begin, uint32_t end) const {
  MappedWriter writer(sink, node_field_);
  each_written(
      begin, end, [&](std::string_view run) { sink.write(run); },
      [&](const EditedNode& node) {
        if (node.stream == nullptr)
          return writer.write(node.node_def, *node.mapping, node.prefixing, node.original);
        const std::string mapped = node.mapping == nullptr
                                       ? std::string()
                                       : mapped_node(node.node_def, *node.mapping, node.original);
        const std::string_view node_def = node.mapping == nullptr ? node.node_def : std::string_view(mapped);
        sink.write(head_of_stream(node_def, node_field_, node.stream->size()));
        sink.write_stream(*node.stream);
      });
}

void Graph::write_undecoded(Sink& sink, Tally* tally) const {
  MappedWriter writer(sink, node_field_);
  const Prefixing* prefixing = whole_ == nullptr ? nullptr : whole_->prefixing(kNoNode);
  std::string_view run;  // fields that stay as they are and lie one behind the other
  for (Fields fields(message_); fields.next();) {
    const bool node = fields->bytes(node_field_);
    if (tally != nullptr) {
      if (node) {
        tally->add(node_op(fields->value));
      } else if (fields->bytes(kGraphLibrary)) {
        tally->add_library(fields->value);
      }
    }
    if (!node || whole_ == nullptr || (prefixing == nullptr && whole_->leaves(fields->value))) {
      if (run.size() >= kLongestRun) sink.write(std::exchange(run, {}));
      run = {run.empty() ? fields->raw.data() : run.data(), run.size() + fields->raw.size()};
      continue;
    }
    sink.write(run);
    run = {};
    writer.write(fields->value, *whole_, prefixing, kNoNode);
  }
  sink.write(run);
}

}  // namespace gedit
