#include "draw/page.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/base64.h"
#include "base/embedded.h"
#include "base/error.h"
#include "base/hash_index.h"
#include "base/parallel.h"
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

// Text that is deflated (RFC 1951) by itself, to stand behind other such text.
class PackedPiece {
 public:
  std::string text;

  // `flush`: Z_FINISH for the last piece of all, else Z_SYNC_FLUSH.
  void pack(int flush) {
    z_stream stream{};
    // Of graphs a page is 2 % smaller on level 6, which takes twice the time.
    constexpr int kLevel = 4, kRaw = -15, kMemory = 8;
    if (deflateInit2(&stream, kLevel, Z_DEFLATED, kRaw, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
    constexpr size_t kEndOfFlush = 16;
    packed_.resize(deflateBound(&stream, static_cast<uLong>(text.size())) + kEndOfFlush);
    // zlib does not write to its input.
    stream.next_in = reinterpret_cast<Bytef*>(text.data());
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed_.data());
    stream.avail_out = static_cast<uInt>(packed_.size());
    deflate(&stream, flush);
    packed_.resize(packed_.size() - stream.avail_out);
    deflateEnd(&stream);
    checksum_ = adler32(1, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()));
  }
  std::string_view packed() const { return packed_; }
  uLong checksum() const { return checksum_; }

 private:
  std::string packed_;
  uLong checksum_ = 1;
};

// Bytes on their way into a page: deflated (RFC 1950), then base64, in which nothing can end a script. What
// is long is deflated in pieces on all cores; where it is cut depends on nothing but the bytes.
class PackedSink final : public Sink {
 public:
  explicit PackedSink(Sink& out) : out_(out), packed_("\x78\x5e") {}

  void write(std::string_view bytes) override {
    open_.text += bytes;
    if (open_.text.size() >= kPiece) end_piece(Z_SYNC_FLUSH);
  }
  // What make(i, text) appends for each i below `count`; it is called on all cores.
  void write_pieces(size_t count, const std::function<void(size_t, std::string&)>& make) {
    if (count == 1) {
      make(0, open_.text);
      if (open_.text.size() >= kPiece) end_piece(Z_SYNC_FLUSH);
      return;
    }
    if (!open_.text.empty()) end_piece(Z_SYNC_FLUSH);
    Places<PackedPiece> pieces(places_for(count));
    in_order(
        count,
        [&](size_t i, size_t place) {
          pieces[place].text.clear();
          make(i, pieces[place].text);
          pieces[place].pack(Z_SYNC_FLUSH);
        },
        [&](size_t place) { add(pieces[place]); });
  }
  void finish() {
    end_piece(Z_FINISH);
    for (int shift = 24; shift >= 0; shift -= 8) packed_ += static_cast<char>(checksum_ >> shift);
    std::string last;
    append_base64(last, packed_);
    out_.write(last);
  }

 private:
  static constexpr size_t kPiece = size_t{1} << 20;

  void end_piece(int flush) {
    open_.pack(flush);
    add(open_);
    open_.text.clear();
  }
  void add(const PackedPiece& piece) {
    checksum_ = adler32_combine(checksum_, piece.checksum(), static_cast<z_off_t>(piece.text.size()));
    packed_ += piece.packed();
    const size_t whole = packed_.size() / 3 * 3;  // what base64 takes without padding
    std::string encoded;
    append_base64(encoded, std::string_view(packed_).substr(0, whole));
    out_.write(encoded);
    packed_.erase(0, whole);
  }

  Sink& out_;
  PackedPiece open_;
  std::string packed_;  // not written yet; the first bytes of a stream of RFC 1950
  uLong checksum_ = 1;
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
    const std::vector<std::string_view>& words = words_.texts();
    write_list(words.size(), kTextsAtOnce, [&](size_t i, std::string& text) { append_json(text, words[i]); });
    packed_.write("]}");
    packed_.finish();
  }

 private:
  // What is no UTF-8 becomes U+FFFD.
  static void append_json(std::string& out, std::string_view text) {
    const bool ascii =
        std::ranges::all_of(text, [](char c) { return (c >= ' ' && c < '\x7f') || c == '\n'; });
    if (!ascii) {
      out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      return;
    }
    out += '"';
    while (!text.empty()) {
      const size_t plain = std::min(text.find_first_of("\"\\\n"), text.size());
      out += text.substr(0, plain);
      text.remove_prefix(plain);
      if (text.empty()) break;
      out += '\\';
      out += text.front() == '\n' ? 'n' : text.front();
      text.remove_prefix(1);
    }
    out += '"';
  }
  static std::string json(std::string_view text) {
    std::string out;
    append_json(out, text);
    return out;
  }

  // What append(i, text) appends for each i below `count`, with commas between; it is called on all cores,
  // for so many at once.
  template <typename Append>
  void write_list(size_t count, size_t at_once, Append append) {
    const auto make = [&](size_t piece, std::string& text) {
      const PieceRange range = piece_range(piece, count, at_once);
      for (size_t i = range.begin; i < range.end; ++i) {
        if (i > 0) text += ',';
        append(i, text);
      }
    };
    packed_.write_pieces(std::max<size_t>(1, pieces_of(count, at_once)), make);
  }

  // A list of numbers `key`, one for each of `count`.
  template <typename Number>
  void column(const char* key, size_t count, Number number) {
    packed_.write(std::string(",\"") + key + "\":[");
    write_list(count, kNumbersAtOnce, [&](size_t i, std::string& text) {
      const auto value = static_cast<int64_t>(number(i));
      if (value >= 0 && value < 10) {
        text += static_cast<char>('0' + value);
        return;
      }
      char digits[24];
      text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    });
    packed_.write("]");
  }

  // The same of words that were numbered, one after the other.
  void column(const char* key, const std::vector<uint32_t>& words) {
    column(key, words.size(), [&](size_t i) { return words[i]; });
  }
  template <typename Text>
  std::vector<uint32_t> words_of(const std::vector<Item>& items, Text text) {
    std::vector<uint32_t> words(items.size());
    for (size_t i = 0; i < items.size(); ++i) words[i] = words_.of(text(items[i]));
    return words;
  }
  // Of texts that make(i) gives, on all cores; where it gives none, otherwise(i) tells the number.
  template <typename Make, typename Otherwise>
  std::vector<uint32_t> words_made(size_t count, Make make, Otherwise otherwise) {
    std::vector<uint32_t> words;
    words.reserve(count);
    const size_t pieces = pieces_of(count);
    Places<std::vector<std::optional<std::string>>> made(places_for(pieces));
    in_order(
        pieces,
        [&](size_t piece, size_t place) {
          const PieceRange range = piece_range(piece, count);
          made[place].assign(range.end - range.begin, std::nullopt);
          for (uint32_t i = range.begin; i < range.end; ++i) made[place][i - range.begin] = make(i);
        },
        [&](size_t place) {
          for (std::optional<std::string>& text : made[place])
            words.push_back(text ? words_.kept(std::move(*text)) : otherwise(words.size()));
        });
    return words;
  }

  void sheet(const Sheet& sheet) {
    const std::vector<Item>& items = sheet.items;
    packed_.write("{\"function\":" + json(sheet.function));
    column("name", words_of(items, [](const Item& item) { return item.name; }));
    column("up", items.size(), [&](size_t i) { return i - items[i].parent; });
    column("kind", items.size(), [&](size_t i) {
      const Item& item = items[i];
      return static_cast<int>(item.seat) | static_cast<int>(item.look) << 3 | (item.through ? 1 << 5 : 0) |
             (item.self ? 1 << 6 : 0) | (item.hit ? 0 : 1 << 7);
    });
    column("op", words_of(items, [](const Item& item) { return item.op; }));
    column("device", words_of(items, [](const Item& item) { return item.device; }));
    column("attrs", attributes(sheet));
    column("row", words_made(
                      items.size(),
                      [&](uint32_t i) {
                        return items[i].seat == Seat::kConst ? std::optional(constant_text(sheet, i))
                                                             : std::nullopt;
                      },
                      [](size_t) -> uint32_t { return 0; }));
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
  std::vector<uint32_t> attributes(const Sheet& sheet) {
    const std::vector<Item>& items = sheet.items;
    std::vector<uint32_t> of_kind(sheet.like->size(), kNoWord);
    const auto is_kind = [&](const Item& item) {
      return item.like != LikeNodes::kNone && sheet.like->kind(item.like).exact;
    };
    return words_made(
        items.size(),
        [&](uint32_t i) {
          return items[i].bytes.empty() || is_kind(items[i]) ? std::nullopt
                                                             : std::optional(attributes_text(items[i].bytes));
        },
        [&](size_t i) {
          if (items[i].bytes.empty()) return uint32_t{0};
          uint32_t& word = of_kind[items[i].like];
          if (word == kNoWord) word = words_.kept(attributes_text(items[i].bytes));
          return word;
        });
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

  static constexpr uint32_t kNoWord = 0xffffffff;
  static constexpr size_t kNumbersAtOnce = size_t{1} << 17,
                          kTextsAtOnce = size_t{1} << 13;  // up to a megabyte

  std::span<const Sheet> sheets_;
  const PageOptions& options_;
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
