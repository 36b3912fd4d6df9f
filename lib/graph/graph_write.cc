// Writing a graph: nodes through their mappings, and what nobody edited as it lies there.

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "base/parallel.h"
#include "graph/graph.h"
#include "graph/piece_walk.h"
#include "graph/prefix.h"

namespace gedit {

namespace {

constexpr uint32_t kGraphLibrary = 2;            // GraphDef.library
constexpr uint32_t kTensorContent = 4;           // TensorProto
constexpr size_t kLongestRun = size_t{4} << 20;  // is handed on, to be written while the next is looked for
constexpr uint32_t kNodesAPiece = 2048;          // of which one thread among several tells how it is written

constexpr size_t kRecordRoom = kPrefixRoom + 4;

// Writes the record of a prefixed node to `out`, where kRecordRoom bytes are, and gives its size; 0 where
// prefix_node() does not take it on.
size_t prefixed_record(std::string_view node_def, const Prefixing& prefixing, uint32_t node_field,
                       char* out) {
  if (node_field != 1 || node_def.size() > kMostPrefixed || prefixing.prefix.size() > kLongestPrefix)
    return 0;
  constexpr size_t kUsualHead = 3;  // tag, and a length of two bytes
  char* node = out + kUsualHead;
  const char* end = prefix_node(node_def, prefixing, node);
  if (end == nullptr) return 0;
  const auto size = static_cast<size_t>(end - node);
  const size_t head = 1 + varint_size(size);
  if (head != kUsualHead) std::memmove(out + head, node, size);
  *out++ = 0x0a;
  size_t left = size;
  for (; left >= 0x80; left >>= 7) *out++ = static_cast<char>(left | 0x80);
  *out = static_cast<char>(left);
  return head + size;
}

}  // namespace

// Writes nodes through a mapping; keeps the room for one node from node to node.
class MappedWriter {
 public:
  MappedWriter(Sink& sink, uint32_t node_field) : sink_(sink), node_field_(node_field) {}

  Sink& sink() { return sink_; }

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
    if (room_.empty()) room_.resize(kRecordRoom);
    const size_t size = prefixed_record(node_def, prefixing, node_field_, room_.data());
    if (size > 0) sink_.write({room_.data(), size});
    return size > 0;
  }

 private:
  Sink& sink_;
  uint32_t node_field_;
  Pieces pieces_;
  std::string head_;
  std::vector<char> room_;
};

namespace {

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
    used_ = 0;
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
    if (used_ == 0 && run_.empty() && left_.empty()) {
      run_ = run;
    } else {
      write(run);
    }
  }
  // [begin, end) of what the piece is counted in: nodes, or bytes.
  void leave(size_t begin, size_t end) {
    write({});
    if (!left_.empty() && left_.back().at == used_ && left_.back().end == begin) {
      left_.back().end = end;
    } else {
      left_.push_back({used_, begin, end});
    }
  }
  // Made where it is to stand.
  bool write_prefixed(std::string_view node_def, const Prefixing& prefixing, uint32_t node_field) {
    write({});
    if (too_long_) return true;
    const size_t size = prefixed_record(node_def, prefixing, node_field, room(kRecordRoom));
    used_ += size;
    too_long_ = used_ > kLongest;
    return size > 0;
  }

  // If it is nothing but bytes that lie somewhere else: these.
  std::string_view run() const { return run_; }
  bool too_long() const { return too_long_; }
  // Calls write(text), and rest(begin, end) for what was left, in order.
  template <typename Write, typename Rest>
  void each(Write write, Rest rest) const {
    size_t at = 0;
    for (const Left& left : left_) {
      write(text().substr(at, left.at - at));
      rest(left.begin, left.end);
      at = left.at;
    }
    write(text().substr(at));
  }

 private:
  static constexpr size_t kLongest = size_t{4} << 20;
  struct Left {
    size_t at;  // in the text
    size_t begin, end;
  };

  std::string_view text() const { return {bytes_.data(), used_}; }
  char* room(size_t size) {
    if (bytes_.size() < used_ + size) bytes_.resize(2 * (used_ + size));
    return bytes_.data() + used_;
  }
  void append(std::string_view bytes) {
    too_long_ = too_long_ || used_ + bytes.size() > kLongest;
    if (too_long_) return;
    std::copy(bytes.begin(), bytes.end(), room(bytes.size()));
    used_ += bytes.size();
  }

  std::vector<char> bytes_;  // the first `used_` of them are written
  size_t used_ = 0;
  std::vector<Left> left_;
  std::string_view run_;
  bool too_long_ = false;
};

namespace {

// Writes pieces in order, those that are nothing but bytes which lie one behind the other at once.
class OrderedPieces {
 public:
  explicit OrderedPieces(Sink& sink) : sink_(sink) {}

  // Calls write_rest(begin, end) for what was left of the piece, and write_whole() where it is too long.
  template <typename WriteRest, typename WriteWhole>
  void write(const WrittenPiece& piece, WriteRest write_rest, WriteWhole write_whole) {
    if (!piece.run().empty() && run_.size() < kLongestRun && run_.end() == piece.run().begin()) {
      run_ = {run_.data(), run_.size() + piece.run().size()};
      return;
    }
    sink_.write(std::exchange(run_, piece.run()));
    if (piece.too_long()) return write_whole();
    piece.each([&](std::string_view text) { sink_.write(text); }, write_rest);
  }
  void finish() { sink_.write(std::exchange(run_, {})); }

 private:
  Sink& sink_;
  std::string_view run_;  // of whole pieces
};

}  // namespace

void Graph::write(Sink& sink, Tally* tally) const {
  if (edited_ && !decoded_) return write_undecoded(sink, tally);
  if (tally != nullptr) *tally = this->tally();
  if (!edited_) return sink.write(message_);
  MappedWriter writer(sink, node_field_);
  uint32_t written = 0;
  // Appended nodes follow the last decoded one.
  const auto upto = [&](uint32_t before) { return before == decoded_count_ ? size() : before; };
  for (size_t i = 0; i < parts_.size(); ++i) {
    // A part before the first node stays there even when there was no node at all.
    const uint32_t end = nodes_before_[i] == 0 && parts_[i].field < node_field_ ? 0 : upto(nodes_before_[i]);
    if (end > written) {
      write_nodes(writer, written, end);
      written = end;
    }
    sink.write(parts_[i].raw);
  }
  write_nodes(writer, written, size());
}

void Graph::write_nodes(MappedWriter& writer, uint32_t begin, uint32_t end) const {
  // What only lies somewhere else is copied once by the one that writes, not twice.
  const bool as_they_lie = !mapped() && streams_.empty();
  if (thread_count() == 1 || as_they_lie || end - begin < 4 * kNodesAPiece)
    return write_some(writer, begin, end);
  const size_t count = pieces_of(end - begin, kNodesAPiece);
  Places<WrittenPiece> pieces(places_for(count));
  OrderedPieces ordered(writer.sink());
  uint32_t next = begin;
  in_order(
      count,
      [&](size_t i, size_t place) {
        const auto first = begin + static_cast<uint32_t>(i) * kNodesAPiece;
        pieces[place].clear();
        write_piece(pieces[place], first, std::min(end, first + kNodesAPiece));
      },
      [&](size_t place) {
        const uint32_t first = std::exchange(next, std::min(end, next + kNodesAPiece));
        ordered.write(
            pieces[place],
            [&](size_t left, size_t behind) {
              write_some(writer, static_cast<uint32_t>(left), static_cast<uint32_t>(behind));
            },
            [&] { write_some(writer, first, next); });
      });
  ordered.finish();
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
  const bool in_steps = end - begin > kNodesAPiece;  // else somebody has the whole run
  size_t range = range_of(begin);
  std::string_view run;
  for (uint32_t i = begin; i < end; ++i) {
    while (range + 1 < ranges_.size() && ranges_[range + 1].begin <= i) ++range;
    expect_behind(NodeId{i}, end);
    if (records_[i] == nullptr) continue;
    const Record record = record_at(records_[i]);
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
        for (; in_steps && run.size() > kLongestRun; run.remove_prefix(kLongestRun))
          stays(run.substr(0, kLongestRun));
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
        if (node.stream != nullptr) return piece.leave(node.number, node.number + 1);
        const bool written = node.prefixing != nullptr
                                 ? piece.write_prefixed(node.node_def, *node.prefixing, node_field_)
                                 : writer.write_rewritten(node.node_def, *node.mapping, node.original);
        if (!written) piece.leave(node.number, node.number + 1);
      });
}

void Graph::write_some(MappedWriter& writer, uint32_t begin, uint32_t end) const {
  Sink& sink = writer.sink();
  each_written(
      begin, end, [&](std::string_view run) { sink.write(run); },
      [&](const EditedNode& node) {
        assert(node.mapping != nullptr || node.stream != nullptr);
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
  struct Piece {
    WrittenPiece written;
    Tally tally;
  };
  Places<Piece> pieces(walk_places(message_));
  OrderedPieces ordered(sink);
  MappedWriter writer(sink, node_field_);
  walk_in_pieces(message_, node_field_,
                 {[&](size_t place, const char* from, const char* stop) {
                    Piece& piece = pieces[place];
                    piece.written.clear();
                    piece.tally = {};
                    return write_piece(piece.written, from, stop, piece.tally);
                  },
                  [&](size_t place, std::string_view fields) {
                    if (fields.empty()) return;
                    const Piece& piece = pieces[place];
                    if (tally != nullptr) tally->add_nodes(piece.tally);
                    ordered.write(
                        piece.written,
                        [&](size_t begin, size_t end) {
                          write_fields(writer, message_.data() + begin, message_.data() + end, nullptr);
                        },
                        [&] { write_fields(writer, fields.data(), fields.data() + fields.size(), nullptr); });
                  },
                  [&](const char* from, const char* stop) {
                    ordered.finish();
                    return write_fields(writer, from, stop, tally);
                  }});
  ordered.finish();
}

template <typename Stays, typename Edited>
const char* Graph::each_field(const char* from, const char* stop, bool only_nodes, Tally* tally, Stays stays,
                              Edited edited) const {
  const bool plain = whole_ != nullptr && does_nothing(whole_->prefixing(kNoNode));
  std::string_view run;  // fields that stay as they are and lie one behind the other
  from = walk_fields(from, stop, message_.end(), [&](const Field& field) {
    const bool node = field.bytes(node_field_);
    if (!node && only_nodes) return false;
    if (tally != nullptr) {
      if (node) {
        tally->add(node_op(field.value));
      } else if (field.bytes(kGraphLibrary)) {
        tally->add_library(field.value);
      }
    }
    if (!node || whole_ == nullptr || plain || whole_->leaves(field.value)) {
      if (run.size() >= kLongestRun) stays(std::exchange(run, {}));
      run = {run.empty() ? field.raw.data() : run.data(), run.size() + field.raw.size()};
      return true;
    }
    stays(std::exchange(run, {}));
    edited(field);
    return true;
  });
  stays(run);
  return from;
}

const char* Graph::write_piece(WrittenPiece& piece, const char* from, const char* stop, Tally& tally) const {
  const Prefixing* prefixing = whole_ == nullptr ? nullptr : whole_->prefixing(kNoNode);
  return each_field(
      from, stop, true, &tally, [&](std::string_view run) { piece.write_run(run); },
      [&](const Field& node) {
        if (prefixing != nullptr && piece.write_prefixed(node.value, *prefixing, node_field_)) return;
        const auto begin = static_cast<size_t>(node.raw.data() - message_.data());
        piece.leave(begin, begin + node.raw.size());
      });
}

const char* Graph::write_fields(MappedWriter& writer, const char* from, const char* stop,
                                Tally* tally) const {
  const Prefixing* prefixing = whole_ == nullptr ? nullptr : whole_->prefixing(kNoNode);
  return each_field(
      from, stop, false, tally, [&](std::string_view run) { writer.sink().write(run); },
      [&](const Field& node) { writer.write(node.value, *whole_, prefixing, kNoNode); });
}

}  // namespace gedit
