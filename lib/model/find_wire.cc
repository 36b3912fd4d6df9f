// Which message a binary file is: protobuf does not say, so it is asked what fits (wire_fit.h). A record that
// is cut off counts as far as it goes, so that half a graph is known as half a graph. What fits none is
// looked at once more, now with fields that protobuf would keep as unknown ones: other numbers, other wire
// types.
#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "model/finding.h"
#include "model/wire_fit.h"

namespace gedit {
namespace {

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
    const auto stats = peek_of(body_of(peek, field));
    if (!stats || stats->fields.empty() || !stats->fields[0].bytes(1)) return false;
    const auto device = peek_of(body_of(*stats, stats->fields[0]));
    return device && !device->fields.empty() && device->fields[0].bytes(1) &&
           device->fields[0].value.substr(0, 1) == "/";
  }
  return false;
}

// An entry of one of GraphDebugInfo's maps: of traces or frames, by name or number.
bool is_traced(const Peek& peek, const Field& field) {
  if (field.wire != Wire::kBytes || field.number < 2 || field.number > 6 || field.number == 3) return false;
  const MessageBytes entry = body_of(peek, field);
  const auto parts = peek_of(entry);
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
           return field.number == 1 ? field.wire == Wire::kBytes && is_plain_text(field.value)
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
  const MessageBytes whole = {bytes, true};
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
  if (peek.end == PeekEnd::kGarbage) {
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
  const bool broken = peek.end == PeekEnd::kCut || peek.end == PeekEnd::kGarbage;
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
