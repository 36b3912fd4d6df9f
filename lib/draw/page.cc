#include "draw/page.h"

#include <zlib.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <vector>

#include "base/base64.h"
#include "base/embedded.h"
#include "base/error.h"
#include "base/hash_index.h"
#include "draw/describe.h"
#include "graph/function_names.h"
#include "graph/name_hash.h"

// Of gedit_embed() in lib/CMakeLists.txt.
extern "C" const char gedit_page_style[], gedit_page_style_end[];
extern "C" const char gedit_page_dagre[], gedit_page_dagre_end[];
extern "C" const char gedit_page_license[], gedit_page_license_end[];
extern "C" const char gedit_page_script[], gedit_page_script_end[];

namespace gedit {
namespace {

// Bytes on their way into a page: deflated (RFC 1950), then base64, in which nothing can end a script.
class PackedSink final : public Sink {
 public:
  explicit PackedSink(Sink& out) : out_(out) {
    if (deflateInit(&stream_, Z_DEFAULT_COMPRESSION) != Z_OK) throw std::bad_alloc();
  }
  ~PackedSink() override { deflateEnd(&stream_); }

  void write(std::string_view bytes) override {
    text_ += bytes;
    if (text_.size() >= kPiece) deflate_text(Z_NO_FLUSH);
  }
  void finish() {
    deflate_text(Z_FINISH);
    std::string last;
    append_base64(last, packed_);
    out_.write(last);
  }

 private:
  static constexpr size_t kPiece = size_t{1} << 18;

  void deflate_text(int flush) {
    // zlib does not write to its input.
    stream_.next_in = reinterpret_cast<Bytef*>(text_.data());
    stream_.avail_in = static_cast<uInt>(text_.size());
    std::vector<char> piece(kPiece);
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(piece.data());
      stream_.avail_out = static_cast<uInt>(piece.size());
      deflate(&stream_, flush);
      packed_.append(piece.data(), piece.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
    text_.clear();
    const size_t whole = packed_.size() / 3 * 3;  // what base64 takes without padding
    std::string encoded;
    append_base64(encoded, std::string_view(packed_).substr(0, whole));
    out_.write(encoded);
    packed_.erase(0, whole);
  }

  Sink& out_;
  z_stream stream_{};
  std::string text_, packed_;
};

// Texts that occur often, by number; 0 is the empty one.
class Words {
 public:
  Words() { of(""); }

  // `text` outlives this.
  uint32_t of(std::string_view text) {
    const uint64_t hash = name_hash(text);
    const uint32_t found = find(text, hash);
    return found != HashIndex::kNone ? found : add(text, hash);
  }
  uint32_t kept(std::string text) {
    const uint64_t hash = name_hash(text);
    const uint32_t found = find(text, hash);
    return found != HashIndex::kNone ? found : add(store_.emplace_back(std::move(text)), hash);
  }
  const std::vector<std::string_view>& texts() const { return texts_; }

 private:
  uint32_t find(std::string_view text, uint64_t hash) const {
    return numbers_.find(hash, [&](uint32_t number) { return texts_[number] == text; });
  }
  uint32_t add(std::string_view text, uint64_t hash) {
    const auto number = static_cast<uint32_t>(texts_.size());
    texts_.push_back(text);
    numbers_.add(hash, number);
    return number;
  }

  std::vector<std::string_view> texts_;
  HashIndex numbers_;
  std::deque<std::string> store_;
};

class PageWriter {
 public:
  PageWriter(std::span<const Sheet> sheets, const PageOptions& options, Sink& out)
      : sheets_(sheets), options_(options), packed_(out) {
    for (uint32_t i = 1; i < sheets_.size(); ++i) pages_.emplace(sheets_[i].function, i);
  }

  // {"title", "depth", "first", "sheets": [..], "words": [..]}, which page.js unpacks.
  void run() {
    packed_.write("{\"title\":" + json(options_.title) + ",\"depth\":" + std::to_string(options_.depth) +
                  ",\"first\":" + std::to_string(first()) + ",\"sheets\":[");
    for (size_t i = 0; i < sheets_.size(); ++i) {
      if (i > 0) packed_.write(",");
      sheet(sheets_[i]);
    }
    packed_.write("],\"words\":[");
    for (size_t i = 0; i < words_.texts().size(); ++i) {
      if (i > 0) packed_.write(",");
      packed_.write(json(words_.texts()[i]));
    }
    packed_.write("]}");
    packed_.finish();
  }

 private:
  // What is no UTF-8 becomes U+FFFD.
  static std::string json(std::string_view text) {
    const bool plain =
        std::ranges::all_of(text, [](char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; });
    if (plain) return std::string("\"").append(text).append("\"");
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  // A list of numbers `key`, one for each of `count`.
  template <typename Number>
  void column(const char* key, size_t count, Number number) {
    std::string text = std::string(",\"") + key + "\":[";
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) text += ',';
      char digits[24];
      const auto end = std::to_chars(digits, digits + sizeof digits, static_cast<int64_t>(number(i)));
      text.append(digits, end.ptr);
      if (text.size() > 65536) {
        packed_.write(text);
        text.clear();
      }
    }
    packed_.write(text + "]");
  }

  void sheet(const Sheet& sheet) {
    const std::vector<Item>& items = sheet.items;
    packed_.write("{\"function\":" + json(sheet.function));
    column("name", items.size(), [&](size_t i) { return words_.of(items[i].name); });
    column("up", items.size(), [&](size_t i) { return i - items[i].parent; });
    column("kind", items.size(), [&](size_t i) {
      const Item& item = items[i];
      return static_cast<int>(item.seat) | static_cast<int>(item.look) << 3 | (item.through ? 1 << 5 : 0) |
             (item.self ? 1 << 6 : 0) | (item.hit ? 0 : 1 << 7);
    });
    column("op", items.size(), [&](size_t i) { return words_.of(items[i].op); });
    column("device", items.size(), [&](size_t i) { return words_.of(items[i].device); });
    column("attrs", items.size(),
           [&](size_t i) { return items[i].bytes.empty() ? 0 : attributes(items[i].bytes); });
    column("row", items.size(), [&](size_t i) {
      return items[i].seat == Seat::kConst ? words_.kept(constant_text(sheet, static_cast<uint32_t>(i))) : 0;
    });
    column("host", items.size(), [&](size_t i) { return items[i].host == kNoItem ? 0 : items[i].host; });
    column("fold", items.size(), [&](size_t i) { return items[i].fold == kNoItem ? 0 : items[i].fold; });
    std::vector<uint32_t> types;
    for (const std::string& type : sheet.types) types.push_back(words_.of(type));
    const std::vector<SheetEdge>& edges = sheet.edges;
    column("to", edges.size(), [&](size_t i) { return edges[i].to - (i > 0 ? edges[i - 1].to : 0); });
    column("from", edges.size(),
           [&](size_t i) { return int64_t{edges[i].to} - static_cast<int64_t>(edges[i].from); });
    column("type", edges.size(),
           [&](size_t i) { return edges[i].control ? -1 : int64_t{types[edges[i].type]}; });
    const std::vector<uint32_t> calls = calls_of(sheet);
    column("calls", calls.size(), [&](size_t i) { return calls[i]; });
    packed_.write("}");
  }

  // Many nodes have the same attributes, byte by byte.
  uint32_t attributes(std::string_view node_def) {
    std::string_view raw;
    for (Fields fields(node_def); fields.next();) {
      if (fields->bytes(node_field::kAttr)) {
        raw = node_def.substr(static_cast<size_t>(fields->raw.data() - node_def.data()));
        break;
      }
    }
    if (raw.size() > kLongestAttributes) return words_.kept(attributes_text(node_def));
    const uint64_t hash = name_hash(raw);
    const uint32_t known =
        attributes_index_.find(hash, [&](uint32_t i) { return attributes_[i].first == raw; });
    if (known != HashIndex::kNone) return attributes_[known].second;
    attributes_index_.add(hash, static_cast<uint32_t>(attributes_.size()));
    return attributes_.emplace_back(raw, words_.kept(attributes_text(node_def))).second;
  }

  // The page that is shown first: of the function that the first signature calls, else the main graph.
  size_t first() const {
    for (size_t i = 0; i < sheets_.size(); ++i) {
      if (sheets_[i].entry == 1) return i;
    }
    return 0;
  }

  // Pairs of a node and the page of a function that it calls.
  std::vector<uint32_t> calls_of(const Sheet& sheet) const {
    std::vector<uint32_t> pairs;
    if (pages_.empty()) return pairs;
    const auto call = [&](uint32_t item, std::string_view function) {
      const auto found = pages_.find(function);
      if (found == pages_.end()) return;
      pairs.push_back(item);
      pairs.push_back(found->second);
    };
    for (uint32_t i = 0; i < sheet.items.size(); ++i) {
      const Item& item = sheet.items[i];
      if (item.bytes.empty()) continue;
      each_function_named(item.bytes, [&](std::string_view name) { call(i, name); });
    }
    return pairs;
  }

  static constexpr size_t kLongestAttributes = 4096;  // of those that are looked up

  std::span<const Sheet> sheets_;
  const PageOptions& options_;
  std::vector<std::pair<std::string_view, uint32_t>> attributes_;  // the bytes, and the word of their text
  HashIndex attributes_index_;
  PackedSink packed_;
  Words words_;
  std::unordered_map<std::string_view, uint32_t> pages_;  // by function
};

}  // namespace

void write_page(std::span<const Sheet> sheets, const PageOptions& options, Sink& out) {
  // The policy forbids the page whatever could reach the network.
  out.write(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; img-src data:\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>");
  out.write(escaped_markup(printable(options.title.empty() ? "graph" : options.title)));
  out.write("</title>\n<style>\n");
  out.write(embedded(gedit_page_style, gedit_page_style_end));
  out.write("</style>\n</head>\n<body>\n<script id=\"data\" type=\"application/octet-stream\">");
  PageWriter(sheets, options, out).run();
  out.write("</script>\n<script>\n/* dagre\n\n");
  out.write(embedded(gedit_page_license, gedit_page_license_end));
  out.write("*/\n");
  const std::string dagre = embedded(gedit_page_dagre, gedit_page_dagre_end);
  out.write(
      std::string_view(dagre).substr(0, dagre.rfind("//# sourceMappingURL")));  // a debugger would fetch it
  out.write("</script>\n<script>\n");
  out.write(embedded(gedit_page_script, gedit_page_script_end));
  out.write("</script>\n</body>\n</html>\n");
}

}  // namespace gedit
