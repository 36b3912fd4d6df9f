// Printing whole files as a listing.
#include "model/listing.h"

#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "base/wire.h"
#include "graph/graph.h"
#include "graph/listing_map.h"
#include "graph/listing_text.h"
#include "graph/numbers.h"
#include "model/collection_text.h"

namespace gedit {
namespace {

// Whether the message is nothing but strings in these fields, each at most once.
bool only_strings(std::string_view message, std::string_view& first, std::string_view& second) {
  bool seen[2] = {false, false};
  for (Fields fields(message); fields.next();) {
    if (!fields->bytes(1) && !fields->bytes(2)) return false;
    const size_t index = fields->number - 1;
    if (seen[index]) return false;
    seen[index] = true;
    (index == 0 ? first : second) = fields->value;
  }
  return true;
}

// Goes over the records of `message`, with map entries under the `maps` merged: of a key that is there twice
// only the last entry is seen, since only that one counts.
class LastEntries {
 public:
  LastEntries(std::string_view message, std::vector<uint32_t> maps) : maps_(std::move(maps)) {
    for (Fields fields(message); fields.next();) {
      if (in_map(fields.field())) last_[key(fields.field())] = fields->raw.data();
    }
  }
  bool counts(const Field& field) const { return !in_map(field) || last_.at(key(field)) == field.raw.data(); }

 private:
  bool in_map(const Field& field) const {
    for (const uint32_t map : maps_) {
      if (field.bytes(map)) return true;
    }
    return false;
  }
  static std::pair<uint32_t, std::string_view> key(const Field& field) {
    return {field.number, map_entry(field.value).key};
  }

  std::vector<uint32_t> maps_;
  std::map<std::pair<uint32_t, std::string_view>, const char*> last_;
};

class ListingWriter {
 public:
  ListingWriter(bool full, Sink& sink) : full_(full), sink_(sink) {}
  ~ListingWriter() = default;
  ListingWriter(const ListingWriter&) = delete;
  ListingWriter& operator=(const ListingWriter&) = delete;

  void saved_model(std::string_view message);
  void meta_graph(std::string_view message);
  void graph(std::string_view message);
  void flush() {
    sink_.write(out_);
    out_.clear();
  }

 private:
  void end_line() {
    constexpr size_t kBuffer = size_t{256} << 10;
    out_ += '\n';
    if (out_.size() >= kBuffer) flush();
  }
  void block(std::string_view statement, TextMessage type, std::string_view message) {
    out_ += statement;
    out_ += ' ';
    print_block(out_, type, message);
    end_line();
  }
  void raw(std::string_view path, std::string_view bytes) {
    out_ += "raw ";
    out_ += path;
    out_ += ' ';
    print_quoted(out_, bytes);
    end_line();
  }
  void meta_info(std::string_view message);
  void graph_until_malformed(std::string_view message);
  void graph_field(std::string_view message, const Field& field);
  void print_nodes(std::span<const char* const> nodes);
  void library(std::string_view message);
  void gradient(std::string_view word, const Field& field, bool reversed);
  void collection(const Field& entry);
  void object_graph(std::string_view message);

  bool full_;
  bool library_done_ = false;
  Sink& sink_;
  std::string out_;
};

void ListingWriter::saved_model(std::string_view message) {
  std::string rest;
  for (Fields fields(message); fields.next();) {
    if (!fields->bytes(2)) rest += fields->raw;
  }
  block("saved_model", TextMessage::kSavedModel, rest);
  for (Fields fields(message); fields.next();) {
    if (fields->bytes(2)) meta_graph(fields->value);
  }
}

void ListingWriter::meta_info(std::string_view message) {
  std::string rest;
  bool ops = false;
  for (Fields fields(message); fields.next();) {
    if (fields->bytes(2)) {
      ops = true;
    } else {
      rest += fields->raw;
    }
  }
  block("metagraph", TextMessage::kMetaInfoDef, rest);
  if (!ops) return;
  std::list<std::string> kept;
  const std::string_view list = merged(message, 2, kept);
  if (list.empty()) raw("stripped_op_list", "");
  for (Fields fields(list); fields.next();) {
    if (fields->bytes(1)) {
      block("op_list", TextMessage::kOpDef, fields->value);
    } else {
      raw("stripped_op_list", fields->raw);
    }
  }
}

void ListingWriter::meta_graph(std::string_view message) {
  std::list<std::string> kept;
  if (has_field(message, 1)) {
    meta_info(merged(message, 1, kept));
  } else {
    out_ += "metagraph";
    end_line();
  }
  const LastEntries entries(message, {4, 5});
  bool graph_done = false;
  bool objects_done = false;
  for (Fields fields(message); fields.next();) {
    const Field& field = fields.field();
    if (field.bytes(1) || !entries.counts(field)) continue;
    if (field.bytes(2)) {
      if (graph_done) continue;
      graph_done = true;
      const std::string_view content = merged(message, 2, kept);
      if (content.empty()) raw("graph_def", "");
      graph(content);
    } else if (field.bytes(3)) {
      block("saver", TextMessage::kSaverDef, field.value);
    } else if (field.bytes(4)) {
      collection(field);
    } else if (field.bytes(5)) {
      out_ += "signature ";
      print_name(out_, map_entry(field.value).key);
      block("", TextMessage::kSignatureDef, merged(field.value, 2, kept));
    } else if (field.bytes(6)) {
      block("asset", TextMessage::kAssetFileDef, field.value);
    } else if (field.bytes(7)) {
      if (objects_done) continue;
      objects_done = true;
      object_graph(merged(message, 7, kept));
    } else {
      raw("meta_graph", field.raw);
    }
  }
}

void ListingWriter::graph(std::string_view message) {
  library_done_ = false;
  std::optional<FoundNodes> found;
  try {
    found = find_nodes(message, 1);
  } catch (const Malformed&) {  // is thrown again behind what stands in front of it
  }
  if (!found) return graph_until_malformed(message);
  const std::span<const char* const> nodes = found->nodes.records;
  size_t printed = 0;
  for (size_t i = 0; i < found->parts.size(); ++i) {
    const size_t before = found->nodes_before[i];
    print_nodes(nodes.subspan(printed, before - printed));
    printed = before;
    Fields fields(found->parts[i].raw);
    fields.next();
    graph_field(message, fields.field());
  }
  print_nodes(nodes.subspan(printed));
}

void ListingWriter::graph_until_malformed(std::string_view message) {
  std::vector<const char*> nodes;
  try {
    for (Fields fields(message); fields.next();) {
      if (fields->bytes(1)) {
        nodes.push_back(fields->raw.data());
      } else {
        print_nodes(std::exchange(nodes, {}));
        graph_field(message, fields.field());
      }
    }
  } catch (const Malformed&) {
    print_nodes(nodes);
    throw;
  }
  print_nodes(nodes);  // one of which is the malformed one
}

// One of the message that is no node.
void ListingWriter::graph_field(std::string_view message, const Field& field) {
  if (field.bytes(2)) {
    if (library_done_) return;
    library_done_ = true;
    std::list<std::string> kept;
    library(merged(message, 2, kept));
  } else if (field.number == 3 && field.wire == Wire::kVarint) {
    out_ += "version ";
    print_int(out_, static_cast<int32_t>(field.varint));
    end_line();
  } else if (field.bytes(4)) {
    block("versions", TextMessage::kVersionDef, field.value);
  } else if (field.bytes(5)) {
    block("debug_info", TextMessage::kGraphDebugInfo, field.value);
  } else {
    raw("graph_def", field.raw);
  }
}

// On all cores.
void ListingWriter::print_nodes(std::span<const char* const> nodes) {
  if (nodes.empty()) return;
  flush();
  pieces_in_order(
      pieces_of(nodes.size()),
      [&](size_t piece, std::string& text) {
        const PieceRange range = piece_range(piece, nodes.size());
        NodeLister lister(full_);
        for (size_t i = range.begin; i < range.end; ++i) {
          lister.print(text, record_at(nodes[i]).node_def);
          text += '\n';
        }
      },
      [&](std::string_view text) { sink_.write(text); });
}

void ListingWriter::library(std::string_view message) {
  if (message.empty()) {
    out_ += "library {}";
    end_line();
  }
  for (Fields fields(message); fields.next();) {
    const Field& field = fields.field();
    if (field.bytes(1) && print_function(out_, field.value, full_)) {
      out_.pop_back();  // its last line end
      end_line();
    } else if (field.bytes(2)) {
      gradient("gradient ", field, false);
    } else if (field.bytes(3)) {
      gradient("registered_gradient ", field, true);
    } else {
      raw("library", field.raw);
    }
  }
}

// `function = gradient`; RegisteredGradient stores the gradient first.
void ListingWriter::gradient(std::string_view word, const Field& field, bool reversed) {
  std::string_view first;
  std::string_view second;
  if (!only_strings(field.value, first, second)) return raw("library", field.raw);
  out_ += word;
  print_name(out_, reversed ? second : first);
  out_ += " = ";
  print_name(out_, reversed ? first : second);
  end_line();
}

void ListingWriter::collection(const Field& entry) {
  std::list<std::string> kept;
  const std::string_view key = map_entry(entry.value).key;
  std::string prefix = "collection ";
  print_name(prefix, key);
  const size_t start = out_.size();
  const auto line = [&](std::string_view item) {
    out_ += prefix;
    out_ += ' ';
    out_ += item;
    out_ += '\n';
  };
  if (print_collection(key, merged(entry.value, 2, kept), line)) return;
  out_.resize(start);
  raw("meta_graph", entry.raw);
}

void ListingWriter::object_graph(std::string_view message) {
  if (message.empty()) raw("object_graph_def", "");
  const LastEntries entries(message, {2});
  std::list<std::string> kept;
  uint64_t objects = 0;
  for (Fields fields(message); fields.next();) {
    const Field& field = fields.field();
    if (!entries.counts(field)) continue;
    if (field.bytes(1)) {
      out_ += "object ";
      print_uint(out_, objects++);
      block("", TextMessage::kSavedObject, field.value);
    } else if (field.bytes(2)) {
      out_ += "concrete_function ";
      print_name(out_, map_entry(field.value).key);
      block("", TextMessage::kSavedConcreteFunction, merged(field.value, 2, kept));
    } else {
      raw("object_graph_def", field.raw);
    }
  }
}

}  // namespace

void print_listing(Kind kind, std::string_view message, bool full, Sink& out) {
  ListingWriter writer(full, out);
  switch (kind) {
    case Kind::kGraphDef:
      writer.graph(message);
      break;
    case Kind::kMetaGraphDef:
      writer.meta_graph(message);
      break;
    case Kind::kSavedModel:
      writer.saved_model(message);
      break;
  }
  writer.flush();
}

}  // namespace gedit
