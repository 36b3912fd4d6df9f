// Which text it is, by its first words: protobuf text, a listing, JSON, the `checkpoint` file, or something
// that only looks like one of them. Looks at 64 KiB.
#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "model/finding.h"

namespace gedit {
namespace {

constexpr size_t kPrefix = size_t{64} << 10;
constexpr std::string_view kBom = "\xEF\xBB\xBF";

bool is_text_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_.-/>$^").find(c) != std::string_view::npos;
}

bool is_text(std::string_view prefix) {
  return std::all_of(prefix.begin(), prefix.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 ? byte != 0x7f : is_text_blank(c);
  });
}

bool starts_with_ignoring_case(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         std::equal(lower.begin(), lower.end(), text.begin(), [](char a, char b) {
           return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b);
         });
}

// Steps over text in which quotes, comments and brackets mean what they mean in protobuf text and in
// listings.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  void skip_blank() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (is_text_blank(text_[at_])) {
        ++at_;
      } else {
        return;
      }
    }
  }

  bool done() const { return at_ >= text_.size(); }
  char here() const { return done() ? '\0' : text_[at_]; }
  std::string_view rest() const { return text_.substr(at_); }
  void step() { at_ = std::min(at_ + 1, text_.size()); }

  // A bare or quoted name; empty where there is none.
  std::string_view word() {
    const size_t start = at_;
    if (here() == '"') {
      skip_string();
    } else {
      while (is_name(here())) ++at_;
    }
    return text_.substr(start, at_ - start);
  }

  void skip_string() {
    const char quote = text_[at_++];
    while (!done() && text_[at_] != quote) at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
  }

  // Over one value: a bracketed run, a string or a bare word.
  void skip_value() {
    size_t depth = 0;
    do {
      skip_blank();
      const char c = here();
      if (c == '{' || c == '<' || c == '[') ++depth;
      if (depth > 0 && (c == '}' || c == '>' || c == ']')) --depth;
      if (c == '"' || c == '\'') {
        skip_string();
      } else if (!is_name(c)) {
        step();
      } else {
        while (is_name(here())) ++at_;
      }
    } while (depth > 0 && !done());
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

struct TextWord {
  std::string_view word;
  Kind kind;
};

constexpr std::array kProtoWords = {
    TextWord{"node", Kind::kGraphDef},
    TextWord{"library", Kind::kGraphDef},
    TextWord{"versions", Kind::kGraphDef},
    TextWord{"version", Kind::kGraphDef},
    TextWord{"debug_info", Kind::kGraphDef},
    TextWord{"meta_info_def", Kind::kMetaGraphDef},
    TextWord{"graph_def", Kind::kMetaGraphDef},
    TextWord{"saver_def", Kind::kMetaGraphDef},
    TextWord{"collection_def", Kind::kMetaGraphDef},
    TextWord{"signature_def", Kind::kMetaGraphDef},
    TextWord{"asset_file_def", Kind::kMetaGraphDef},
    TextWord{"object_graph_def", Kind::kMetaGraphDef},
    TextWord{"saved_model_schema_version", Kind::kSavedModel},
    TextWord{"meta_graphs", Kind::kSavedModel},
};

struct Other {
  std::string_view word, means;
};

// Protobuf text of other messages, by a field that begins them.
constexpr std::array kOthers = {
    Other{"calculator", "a MediaPipe graph (a CalculatorGraphConfig)"},
    Other{"input_stream", "a MediaPipe graph (a CalculatorGraphConfig)"},
    Other{"output_stream", "a MediaPipe graph (a CalculatorGraphConfig)"},
    Other{"input_side_packet", "a MediaPipe graph (a CalculatorGraphConfig)"},
    Other{"output_side_packet", "a MediaPipe graph (a CalculatorGraphConfig)"},
    Other{"max_queue_size", "a MediaPipe graph (a CalculatorGraphConfig)"},
    Other{"executor", "a MediaPipe graph (a CalculatorGraphConfig)"},
    Other{"signature", "a FunctionDef"},
    Other{"node_def", "a FunctionDef"},
    Other{"function", "a FunctionDefLibrary"},
    Other{"input_arg", "an OpDef"},
    Other{"output_arg", "an OpDef"},
    Other{"step_stats", "a RunMetadata"},
    Other{"cost_graph", "a RunMetadata"},
    Other{"partition_graphs", "a RunMetadata"},
    Other{"graph_options", "a ConfigProto"},
    Other{"gpu_options", "a ConfigProto"},
    Other{"model_config_list", "a TensorFlow Serving configuration"},
    Other{"item", "a label map"},
    Other{"train_config", "an object detection pipeline"},
    Other{"layer", "a Caffe network"},
    Other{"layers", "a Caffe network"},
    Other{"ir_version", "an ONNX model"},
};

constexpr std::array<std::string_view, 5> kListingBlocks = {"metagraph", "saved_model", "op_list", "saver",
                                                            "asset"};
constexpr std::array<std::string_view, 10> kListingLines = {
    "function", "gradient", "registered_gradient", "collection", "signature",
    "object",   "version",  "concrete_function",   "raw",        "end"};

template <typename List>
bool among(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// The fields of the first messages in a `node { ... }`: MediaPipe's nodes have a calculator.
bool has_calculator(Cursor cursor) {
  cursor.skip_blank();
  if (cursor.here() == ':') cursor.step();
  cursor.skip_blank();
  if (cursor.here() != '{' && cursor.here() != '<') return false;
  cursor.step();
  for (;;) {
    cursor.skip_blank();
    const std::string_view word = cursor.word();
    if (word.empty()) return false;
    if (word == "calculator") return true;
    cursor.skip_blank();
    if (cursor.here() == ':') cursor.step();
    cursor.skip_value();
  }
}

bool is_empty_block(Cursor cursor) {
  cursor.step();
  cursor.skip_blank();
  return cursor.here() == '}';
}

Finding listing(std::string_view first_word) {
  return graph_finding(first_word == "saved_model" ? Kind::kSavedModel
                       : first_word == "metagraph" ? Kind::kMetaGraphDef
                                                   : Kind::kGraphDef,
                       Format::kListing);
}

Finding checkpoint_state() {
  return {.content = Content::kCheckpointState,
          .words = "a checkpoint's state file",
          .hint = "gedit checkpoint list takes it"};
}

// Protobuf text and listings start with a name; what follows it tells them apart.
Finding find_words(Cursor cursor) {
  std::optional<Finding> in_doubt;
  std::string_view first_word;
  for (;;) {
    cursor.skip_blank();
    if (cursor.done()) {
      if (first_word == "metagraph") return listing(first_word);  // all that is written of an empty one
      break;
    }
    const std::string_view word = cursor.word();
    if (first_word.empty()) first_word = word;
    if (word.empty()) break;
    const Cursor after_word = cursor;
    cursor.skip_blank();
    const char next = cursor.here();
    if (next == '=') {
      cursor.step();
      cursor.skip_blank();
      if (cursor.word().empty()) break;
      cursor.skip_blank();
      if (cursor.here() == '(') return listing(first_word);
      break;
    }
    if (next != ':' && next != '{' && next != '<' && next != '[') {
      if (among(kListingLines, word)) return listing(first_word);
      if (among(kListingBlocks, word)) continue;  // with nothing to say of it
      break;
    }
    if (next == '{' && among(kListingBlocks, word)) return listing(first_word);
    const auto* known = std::find_if(kProtoWords.begin(), kProtoWords.end(),
                                     [&](const TextWord& one) { return one.word == word; });
    if (known != kProtoWords.end()) {
      if (word == "node" && has_calculator(after_word)) return {.words = std::string(kOthers[0].means)};
      const bool either = next == '{' && (word == "versions" || word == "debug_info" ||
                                          (word == "library" && is_empty_block(cursor)));
      if (!either) return graph_finding(known->kind, Format::kText);
      in_doubt = graph_finding(known->kind, Format::kText);
      in_doubt->format_open = true;
    } else if (word == "model_checkpoint_path" || word == "all_model_checkpoint_paths") {
      return checkpoint_state();
    } else if (word == "op" && next != ':') {
      return {.content = Content::kOpList,
              .words = "op definitions (an OpList in text)",
              .hint = "--ops takes them"};
    } else {
      const auto* other =
          std::find_if(kOthers.begin(), kOthers.end(), [&](const Other& one) { return one.word == word; });
      if (other != kOthers.end()) return {.words = std::string(other->means)};
      if (in_doubt) break;
      return {.words =
                  "protobuf text of another message (its first field is '" + printable(first_word) + "')"};
    }
    if (cursor.here() == ':') cursor.step();
    cursor.skip_value();
    cursor.skip_blank();
    if (cursor.here() == ',' || cursor.here() == ';') cursor.step();
  }
  if (in_doubt) return *in_doubt;
  if (!first_word.empty() || !cursor.done()) return {.words = "text, but no graph"};
  Finding nothing = graph_finding(Kind::kGraphDef, Format::kText);  // blanks and comments only
  nothing.kind_open = nothing.format_open = true;
  return nothing;
}

// The field a JSON key means: both `metaInfoDef` and `meta_info_def`.
bool means(std::string_view key, std::string_view field) {
  size_t k = 0;
  for (size_t f = 0; f < field.size(); ++f, ++k) {
    if (k == key.size()) return false;
    if (field[f] == '_' && key[k] != '_') {
      ++f;
      if (key[k] != static_cast<char>(field[f] - 'a' + 'A')) return false;
    } else if (key[k] != field[f]) {
      return false;
    }
  }
  return k == key.size();
}

Finding find_json(Cursor cursor) {
  cursor.step();
  std::string_view first_key;
  bool has_class = false;
  for (;;) {
    cursor.skip_blank();
    if (cursor.here() == ',') {
      cursor.step();
      cursor.skip_blank();
    }
    if (cursor.here() != '"') break;
    std::string_view key = cursor.word();
    key = key.size() < 2 ? std::string_view() : key.substr(1, key.size() - 2);
    if (first_key.empty()) first_key = key;
    for (const TextWord& one : kProtoWords) {
      if (means(key, one.word)) return graph_finding(one.kind, Format::kJson);
    }
    if (key == "modelTopology" || key == "weightsManifest") return {.words = "a TensorFlow.js model"};
    if (key == "class_name") has_class = true;
    if (key == "op") return {.content = Content::kOpList, .words = "op definitions (an OpList in JSON)"};
    cursor.skip_blank();
    if (cursor.here() != ':') break;
    cursor.step();
    cursor.skip_value();
  }
  if (has_class) return {.words = "a Keras model in JSON, which is no graph"};
  if (!first_key.empty() || cursor.here() != '}')
    return {.words = first_key.empty()
                         ? "text, but no graph"
                         : "JSON, but of no graph (its first key is '" + printable(first_key) + "')"};
  Finding nothing = graph_finding(Kind::kGraphDef, Format::kJson);
  nothing.kind_open = true;
  return nothing;
}

}  // namespace

std::optional<Finding> find_text(std::string_view bytes) {
  std::string_view prefix = bytes.substr(0, kPrefix);
  if (prefix.substr(0, kBom.size()) == kBom) prefix.remove_prefix(kBom.size());
  if (!is_text(prefix.substr(0, kPrefix / 8))) return {};
  if (prefix.substr(0, 42) == "version https://git-lfs.github.com/spec/v1")
    return Finding{.words = "a git-lfs pointer, not the file", .hint = "git lfs pull"};
  Cursor cursor(prefix);
  while (!cursor.done() && is_text_blank(cursor.here())) cursor.step();
  const std::string_view rest = cursor.rest();
  for (std::string_view start : {"<!doctype html", "<html", "<head", "<body"}) {
    if (starts_with_ignoring_case(rest, start))
      return Finding{.words = "an HTML page, not the file", .hint = "fetch the file itself"};
  }
  if (rest.substr(0, 5) == "<?xml") return Finding{.words = "an XML file"};
  if (rest.substr(0, 1) == "{") return find_json(cursor);
  return find_words(cursor);
}

}  // namespace gedit
