// Which message a binary file is: protobuf does not say, so the first fields are held against what each
// message may have there (field numbers, wire types, and the same one or two levels down). A record that is
// cut off counts as far as it goes, so that half a graph is known as half a graph. What fits none is looked
// at once more, now with fields that protobuf would keep as unknown ones: other numbers, other wire types.
#include <algorithm>
#include <array>
#include <vector>

#include "base/utf8.h"
#include "base/wire.h"
#include "model/finding.h"

namespace gedit {
namespace {

constexpr size_t kMostFields = 64;

enum class End : uint8_t { kWhole, kMore, kCut, kGarbage };

// The first fields of a message, whatever becomes of the rest.
struct Peek {
  std::vector<Field> fields;
  End end = End::kWhole;
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

// The varint at `at`, which moves past it; nothing where it is cut off.
std::optional<uint64_t> varint_at(std::string_view bytes, size_t& at) {
  uint64_t value = 0;
  for (unsigned shift = 0; at < bytes.size() && shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    value |= uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
  return {};
}

// A record that Fields refuses: is it cut off by the end of the bytes, or no record at all?
void look_at_broken(std::string_view bytes, size_t start, Peek& peek) {
  peek.broken_at = start;
  peek.end = End::kGarbage;
  size_t at = start;
  const std::optional<uint64_t> tag = varint_at(bytes, at);
  if (!tag) {
    if (at == bytes.size()) peek.end = End::kCut;
    return;
  }
  const auto wire = static_cast<Wire>(*tag & 7);
  if ((*tag >> 3) == 0 || (*tag >> 3) > 0x1fffffff || wire == Wire::kStartGroup || wire == Wire::kEndGroup ||
      (*tag & 7) > 5)
    return;
  Field field;
  field.number = static_cast<uint32_t>(*tag >> 3);
  field.wire = wire;
  if (wire == Wire::kBytes) {
    const std::optional<uint64_t> length = varint_at(bytes, at);
    if (!length && at < bytes.size()) return;
    if (length && *length > (uint64_t{1} << 31)) return;  // no message is that long
    peek.wanted = length.value_or(0);
  } else if (wire == Wire::kVarint) {
    (void)varint_at(bytes, at);
    if (at < bytes.size()) return;
  }
  peek.end = End::kCut;
  field.value = bytes.substr(at);
  field.raw = bytes.substr(start);
  peek.fields.push_back(field);
}

Peek peek_at(std::string_view bytes) {
  Peek peek;
  size_t done = 0;
  try {
    for (Fields fields(bytes); fields.next();) {
      if (peek.fields.size() == kMostFields) {
        peek.end = End::kMore;
        return peek;
      }
      peek.fields.push_back(fields.field());
      done = static_cast<size_t>(fields->raw.data() + fields->raw.size() - bytes.data());
    }
  } catch (const Malformed&) {  // not an error here, but what there is to know
    look_at_broken(bytes, done, peek);
  }
  return peek;
}

enum class Fit : uint8_t { kNo, kMaybe, kYes };

// A message or the beginning of one.
struct Body {
  std::string_view bytes;
  bool cut;
  bool lenient = false;
};

// The peek of a body, nothing where it is no message.
std::optional<Peek> open(const Body& body) {
  Peek peek = peek_at(body.bytes);
  peek.lenient = body.lenient;
  if (peek.end == End::kGarbage || (peek.end == End::kCut && !body.cut)) return {};
  return peek;
}

Body body_of(const Peek& peek, const Field& field) {
  return {field.value, peek.end == End::kCut && &field == &peek.fields.back(), peek.lenient};
}

bool plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x20; });
}

bool identifier(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

// A map entry, or any message of two strings or messages.
Fit fit_entry(const Body& body) {
  const auto peek = open(body);
  if (!peek) return Fit::kNo;
  for (const Field& field : peek->fields) {
    if (peek->lenient && (field.wire != Wire::kBytes || field.number > 2)) continue;
    if (field.wire != Wire::kBytes || field.number > 2) return Fit::kNo;
    if (field.number == 1 && !plain(field.value)) return Fit::kNo;
  }
  const bool repeated = peek->count(1, Wire::kBytes) > 1 || peek->count(2, Wire::kBytes) > 1;
  if (repeated && !peek->lenient) return Fit::kNo;
  return peek->fields.empty() ? Fit::kMaybe : Fit::kYes;
}

Fit fit_node(const Body& body) {
  const auto peek = open(body);
  if (!peek) return Fit::kNo;
  Fit fit = Fit::kMaybe;
  size_t attrs = 0;
  for (const Field& field : peek->fields) {
    if (field.number > 7 || (peek->lenient && field.wire != Wire::kBytes)) continue;
    if (field.wire != Wire::kBytes) return Fit::kNo;
    if (field.number == 2 && !field.value.empty()) {
      if (!identifier(field.value)) return Fit::kNo;
      fit = Fit::kYes;
    }
    if (field.number == 5 && ++attrs <= 3 && fit_entry(body_of(*peek, field)) == Fit::kNo) return Fit::kNo;
  }
  return peek->count(1, Wire::kBytes) > 1 || peek->count(2, Wire::kBytes) > 1 ? Fit::kNo : fit;
}

Fit fit_op_def(const Body& body) {
  const auto peek = open(body);
  if (!peek) return Fit::kNo;
  Fit fit = Fit::kMaybe;
  for (const Field& field : peek->fields) {
    const bool number = (field.number >= 16 && field.number <= 19) || field.number == 21;
    const bool unknown = field.number == 7 || (field.number >= 9 && field.number <= 15);
    const Wire wire = number ? Wire::kVarint : Wire::kBytes;
    if (peek->lenient && (unknown || field.wire != wire)) continue;
    if (unknown) return Fit::kNo;
    if (field.number <= 21 && field.wire != wire) return Fit::kNo;
    // What is cut off may end between two fields, or in front of a name.
    const Body part = body_of(*peek, field);
    if (field.number == 1 && !identifier(field.value) && !(part.cut && field.value.empty())) return Fit::kNo;
    if (field.number == 1) fit = Fit::kYes;
    if (field.number >= 2 && field.number <= 4) {
      const auto argument = open(part);
      const bool whole = argument && argument->end == End::kWhole && !part.cut;
      const bool named = !whole || peek->lenient || argument->count(1, Wire::kBytes) == 1;
      if (!argument || !named) return Fit::kNo;
    }
  }
  return peek->count(1, Wire::kBytes) > 1 ? Fit::kNo : fit;
}

Fit fit_function(const Body& body) {
  const auto peek = open(body);
  if (!peek) return Fit::kNo;
  Fit fit = Fit::kMaybe;
  for (const Field& field : peek->fields) {
    if (peek->lenient && field.wire != Wire::kBytes) continue;
    if (field.number <= 8 && field.wire != Wire::kBytes) return Fit::kNo;
    if (field.number == 1) fit = fit_op_def(body_of(*peek, field));
    if (field.number == 3 && fit_node(body_of(*peek, field)) == Fit::kNo) return Fit::kNo;
    if (fit == Fit::kNo) return Fit::kNo;
  }
  return fit;
}

Fit fit_library(const Body& body) {
  const auto peek = open(body);
  if (!peek) return Fit::kNo;
  Fit fit = Fit::kMaybe;
  for (const Field& field : peek->fields) {
    if (field.number > 3 || (peek->lenient && field.wire != Wire::kBytes)) continue;
    if (field.wire != Wire::kBytes) return Fit::kNo;
    const Body part = body_of(*peek, field);
    const Fit one = field.number == 1 ? fit_function(part) : fit_entry(part);
    if (one == Fit::kNo) return Fit::kNo;
    fit = std::max(fit, one);
  }
  return fit;
}

Fit fit_versions(const Body& body) {
  const auto peek = open(body);
  if (!peek) return Fit::kNo;
  for (const Field& field : peek->fields) {
    const bool packed = field.number == 3 && field.wire == Wire::kBytes;
    if (peek->lenient && (field.number > 3 || (field.wire != Wire::kVarint && !packed))) continue;
    if (field.number <= 3 && field.wire != Wire::kVarint && !packed) return Fit::kNo;
    if (field.number > 3) return Fit::kNo;
  }
  return peek->fields.empty() ? Fit::kMaybe : Fit::kYes;
}

Fit fit_graph(const Peek& peek) {
  Fit fit = Fit::kMaybe;
  for (const Field& field : peek.fields) {
    if (field.number > 7) continue;  // of a future TensorFlow
    const Wire wire = field.number == 3 ? Wire::kVarint : Wire::kBytes;
    if (peek.lenient && (field.number > 5 || field.wire != wire)) continue;
    if (field.number > 5 || field.wire != wire) return Fit::kNo;
    const Body part = body_of(peek, field);
    const Fit one = field.number == 1   ? fit_node(part)
                    : field.number == 2 ? fit_library(part)
                    : field.number == 4 ? fit_versions(part)
                                        : Fit::kMaybe;
    if (one == Fit::kNo) return Fit::kNo;
    fit = std::max(fit, one);
  }
  return fit;
}

Fit fit_meta_info(const Body& body) {
  const auto peek = open(body);
  if (!peek) return Fit::kNo;
  Fit fit = Fit::kMaybe;
  for (const Field& field : peek->fields) {
    const Wire wire = field.number == 7 ? Wire::kVarint : Wire::kBytes;
    if (field.number > 8 || (peek->lenient && field.wire != wire)) continue;
    if (field.wire != wire) return Fit::kNo;
    if (field.number == 2) {
      const auto list = open(body_of(*peek, field));
      if (!list) return Fit::kNo;
      for (const Field& op : list->fields) {
        if (list->lenient && !op.bytes(1)) continue;
        if (!op.bytes(1) || fit_op_def(body_of(*list, op)) == Fit::kNo) return Fit::kNo;
      }
    }
    if ((field.number == 1 || (field.number >= 4 && field.number <= 6)) && !plain(field.value))
      return Fit::kNo;
    if (field.number != 1) fit = Fit::kYes;
  }
  return fit;
}

Fit fit_saver(const Body& body) {
  const auto peek = open(body);
  if (!peek) return Fit::kNo;
  for (const Field& field : peek->fields) {
    if (field.number > 7) continue;
    const Wire wire = field.number <= 3 ? Wire::kBytes : field.number == 6 ? Wire::kFixed32 : Wire::kVarint;
    if (peek->lenient && field.wire != wire) continue;
    if (field.wire != wire) return Fit::kNo;
    if (wire == Wire::kBytes && !plain(field.value)) return Fit::kNo;  // names
  }
  return peek->fields.empty() ? Fit::kMaybe : Fit::kYes;
}

Fit fit_meta_graph(const Peek& peek) {
  if (peek.count(1, Wire::kBytes) > 1) return Fit::kNo;
  // A graph, whatever lies around it.
  if (peek.lenient && peek.count(2, Wire::kBytes) == 1) {
    const auto field = std::ranges::find_if(peek.fields, [](const Field& one) { return one.bytes(2); });
    const auto graph = open(body_of(peek, *field));
    if (graph && graph->count(1, Wire::kBytes) > 0 && fit_graph(*graph) == Fit::kYes) return Fit::kYes;
  }
  Fit fit = Fit::kMaybe;
  for (const Field& field : peek.fields) {
    if (field.number > 7 || (peek.lenient && field.wire != Wire::kBytes)) continue;
    if (field.wire != Wire::kBytes) return Fit::kNo;
    const Body part = body_of(peek, field);
    Fit one = Fit::kMaybe;
    if (field.number == 1) one = fit_meta_info(part);
    if (field.number == 2) {
      const auto graph = open(part);
      one = graph ? fit_graph(*graph) : Fit::kNo;
    }
    if (field.number == 3) one = fit_saver(part);
    if (field.number == 4 || field.number == 5) one = fit_entry(part);
    if (one == Fit::kNo) return Fit::kNo;
    fit = std::max(fit, one);
  }
  return fit;
}

Fit fit_saved_model(const Peek& peek) {
  Fit fit = Fit::kNo;  // without a MetaGraph it is none
  bool has_version = false;
  for (const Field& field : peek.fields) {
    const Wire wire = field.number == 1 ? Wire::kVarint : Wire::kBytes;
    if (field.number > 7 || (peek.lenient && field.wire != wire)) continue;
    if (field.number > 2 || field.wire != wire) return Fit::kNo;
    if (field.number == 1) has_version = field.varint == 1;
    if (field.number != 2) continue;
    const auto meta = open(body_of(peek, field));
    const Fit one = meta ? fit_meta_graph(*meta) : Fit::kNo;
    if (one == Fit::kNo) return Fit::kNo;
    fit = std::max(fit, one);
  }
  return fit != Fit::kNo && has_version ? Fit::kYes : fit;
}

// Every top-level field is `number` and fits.
template <typename Fits>
bool all_are(const Peek& peek, uint32_t number, Fits fits) {
  return !peek.fields.empty() && std::all_of(peek.fields.begin(), peek.fields.end(), [&](const Field& field) {
    return field.bytes(number) && fits(body_of(peek, field)) == Fit::kYes;
  });
}

bool is_onnx(const Peek& peek) {
  return peek.count(1, Wire::kVarint) == 1 &&
         (peek.count(7, Wire::kBytes) == 1 || peek.count(8, Wire::kBytes) > 0);
}

bool is_fingerprint(const Peek& peek) {
  return peek.count(1, Wire::kVarint) == 1 && peek.count(2, Wire::kVarint) == 1 &&
         peek.count(3, Wire::kVarint) == 1;
}

// RunMetadata: step_stats { dev_stats { device: "/job:..." node_stats {...} } }
bool is_run_metadata(const Peek& peek) {
  for (const Field& field : peek.fields) {
    if (!field.bytes(1)) continue;
    const auto stats = open(body_of(peek, field));
    if (!stats || stats->fields.empty() || !stats->fields[0].bytes(1)) return false;
    const auto device = open(body_of(*stats, stats->fields[0]));
    return device && !device->fields.empty() && device->fields[0].bytes(1) &&
           device->fields[0].value.substr(0, 1) == "/";
  }
  return false;
}

// An entry of one of GraphDebugInfo's maps: of traces or frames, by name or number.
bool is_traced(const Peek& peek, const Field& field) {
  if (field.wire != Wire::kBytes || field.number < 2 || field.number > 6 || field.number == 3) return false;
  const Body entry = body_of(peek, field);
  const auto parts = open(entry);
  if (!parts || (parts->fields.empty() && !entry.cut)) return false;
  const bool named = field.number == 2 || field.number == 5;
  return std::ranges::all_of(parts->fields, [&](const Field& part) {
    if (part.number == 1) return part.wire == (named ? Wire::kBytes : Wire::kFixed64);
    return part.number == 2 && part.wire == (field.number == 5 ? Wire::kFixed64 : Wire::kBytes);
  });
}

// GraphDebugInfo: names of source files, then traces.
bool is_debug_info(const Peek& peek) {
  const bool named = std::ranges::any_of(
      peek.fields, [](const Field& field) { return field.bytes(1) && !field.value.empty(); });
  return named && peek.count(1) < peek.fields.size() &&
         std::ranges::all_of(peek.fields, [&](const Field& field) {
           return field.number == 1 ? field.wire == Wire::kBytes && plain(field.value)
                                    : is_traced(peek, field);
         });
}

// The messages that people take for a graph.
std::optional<Finding> named_message(const Peek& peek, std::string_view bytes) {
  if (all_are(peek, 1, fit_op_def))
    return Finding{
        .content = Content::kOpList, .words = "op definitions (an OpList)", .hint = "--ops takes them"};
  if (is_onnx(peek)) return Finding{.words = "an ONNX model"};
  if (is_fingerprint(peek))
    return Finding{.words = "the fingerprint of a SavedModel", .hint = "name its directory"};
  if (bytes.substr(0, 256).find("_tf_keras") != std::string_view::npos)
    return Finding{.words = "Keras metadata of a SavedModel", .hint = "name its directory"};
  if (is_run_metadata(peek)) return Finding{.words = "a RunMetadata"};
  const Body whole = {bytes, true};
  if (peek.count(1) == 1 && peek.count(3) > 0 && fit_function(whole) == Fit::kYes)
    return Finding{.words = "a FunctionDef"};
  if (all_are(peek, 1, fit_function)) return Finding{.words = "a FunctionDefLibrary"};
  if (peek.count(5) > 0 && fit_node(whole) == Fit::kYes) return Finding{.words = "a single NodeDef"};
  if (is_debug_info(peek))
    return Finding{.words = "debug information of a SavedModel", .hint = "name its directory"};
  return {};
}

// Somebody read the file as text and wrote it again: all is UTF-8, and what was not is U+FFFD.
bool is_utf8_damaged(std::string_view bytes) {
  constexpr size_t kPrefix = size_t{64} << 10;
  std::string_view prefix = bytes.substr(0, kPrefix);
  for (int i = 0; i < 3 && prefix.size() == kPrefix && !valid_utf8(prefix); ++i) prefix.remove_suffix(1);
  size_t replaced = 0;
  for (size_t at = 0; (at = prefix.find("\xEF\xBF\xBD", at)) != std::string_view::npos; at += 3) ++replaced;
  return replaced >= 3 && valid_utf8(prefix);
}

std::string_view field_word(Kind kind, uint32_t number) {
  constexpr std::array<std::string_view, 6> kGraph = {"",        "node",     "library",
                                                      "version", "versions", "debug_info"};
  constexpr std::array<std::string_view, 8> kMeta = {"",
                                                     "meta_info_def",
                                                     "graph_def",
                                                     "saver_def",
                                                     "collection_def",
                                                     "signature_def",
                                                     "asset_file_def",
                                                     "object_graph_def"};
  constexpr std::array<std::string_view, 3> kSaved = {"", "saved_model_schema_version", "meta_graphs"};
  if (kind == Kind::kGraphDef && number < kGraph.size()) return kGraph.at(number);
  if (kind == Kind::kMetaGraphDef && number < kMeta.size()) return kMeta.at(number);
  if (kind == Kind::kSavedModel && number < kSaved.size()) return kSaved.at(number);
  return "unknown";
}

Finding broken_graph(Finding found, const Peek& peek, std::string_view bytes) {
  found.broken_at = peek.broken_at;
  const std::string name(kind_word(found.graph->kind));
  if (peek.end == End::kGarbage) {
    found.broken = "no field of a " + name + " starts here";
    return found;
  }
  const Field& last = peek.fields.back();
  const bool known = last.raw.data() == bytes.data() + peek.broken_at;
  if (known && peek.wanted > 0) {
    found.broken = std::string(field_word(found.graph->kind, last.number)) + " record is " +
                   std::to_string(peek.wanted) + " bytes long, " + std::to_string(last.value.size()) +
                   " remain";
  } else {
    found.broken = "the last record is cut off";
  }
  found.hint = "the " + name + " is truncated";
  return found;
}

}  // namespace

namespace {

// How well each kind fits.
struct Fits {
  explicit Fits(const Peek& peek)
      : graph(fit_graph(peek)),
        meta(fit_meta_graph(peek)),
        saved(fit_saved_model(peek)),
        numbered(peek.count(1, Wire::kBytes) > 0) {}

  std::optional<Finding> sure() const {
    if (saved == Fit::kYes) return graph_finding(Kind::kSavedModel, Format::kBinary);
    if (graph == Fit::kYes && (meta != Fit::kYes || numbered))
      return graph_finding(Kind::kGraphDef, Format::kBinary);
    if (meta == Fit::kYes) return graph_finding(Kind::kMetaGraphDef, Format::kBinary);
    return {};
  }

  Fit graph, meta, saved;
  bool numbered;  // something has the number of nodes
};

}  // namespace

Finding find_wire(std::string_view bytes) {
  Peek peek = peek_at(bytes);
  const Fits fits(peek);
  const bool broken = peek.end == End::kCut || peek.end == End::kGarbage;
  if (broken && is_utf8_damaged(bytes)) {
    return {.words = "damaged: its bytes were passed through a UTF-8 decoder",
            .hint = "fetch it again, as binary"};
  }
  if (const auto found = fits.sure()) return broken ? broken_graph(*found, peek, bytes) : *found;

  if (std::optional<Finding> named = named_message(peek, bytes)) return *named;
  if (broken || peek.fields.empty()) return {.words = "bytes of no known kind"};
  if (fits.graph == Fit::kNo && fits.meta == Fit::kNo && fits.saved == Fit::kNo) {
    peek.lenient = true;
    if (const auto found = Fits(peek).sure()) return *found;
    return {.words = "a protobuf message of another kind"};
  }
  // Messages without content, which fit several kinds.
  Finding found = graph_finding(fits.graph != Fit::kNo  ? Kind::kGraphDef
                                : fits.meta != Fit::kNo ? Kind::kMetaGraphDef
                                                        : Kind::kSavedModel,
                                Format::kBinary);
  found.kind_open = true;
  return found;
}

}  // namespace gedit
