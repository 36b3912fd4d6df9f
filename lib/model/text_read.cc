// Reads protobuf text: a scanner of braces, quotes and comments cuts it into top-level fields, and TextFormat
// reads each piece.
#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "base/parallel.h"
#include "base/utf8.h"
#include "base/wire.h"
#include "graph/node.h"
#include "model/text.h"
#include "model/transcode.h"

namespace gedit {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// A node as printers write it: name, op, inputs and device between plain quotes, attributes in braces. Of a
// thousand nodes each attribute is parsed by protobuf once.
class NodeParser {
 public:
  // Appends the field of `node`, the text `node { ... }`; false for what needs protobuf's look at the whole,
  // such as anything that is wrong with it. parse_attr(text, bytes) makes the field of an attribute, or
  // throws.
  template <typename ParseAttr>
  bool parse(std::string_view node, ParseAttr parse_attr, std::string& bytes) {
    text_ = node;
    at_ = 0;
    for (auto& texts : texts_) texts.clear();
    attrs_.clear();
    try {
      if (!read_fields(parse_attr)) return false;
    } catch (const Error&) {  // who looks at the whole can say where
      return false;
    }
    std::sort(attrs_.begin(), attrs_.end(), [](const Attr& a, const Attr& b) { return a.key < b.key; });
    for (size_t i = 1; i < attrs_.size(); ++i) {
      if (attrs_[i].key == attrs_[i - 1].key) return false;
    }
    content_.clear();
    for (uint32_t number = node_field::kName; number < node_field::kAttr; ++number) {
      for (const std::string_view value : texts_[number]) append_bytes_field(content_, number, value);
    }
    for (const Attr& attr : attrs_) content_.append(made_, attr.begin, attr.size);
    append_bytes_field(bytes, 1, content_);
    return true;
  }

 private:
  struct Attr {
    std::string key;
    size_t begin, size;  // of its field in made_
  };

  template <typename ParseAttr>
  bool read_fields(ParseAttr parse_attr) {
    made_.clear();
    if (word() != "node" || !takes('{')) return false;
    while (!takes('}')) {
      skip_blank();
      const size_t start = at_;
      const std::string_view name = word();
      if (name == "attr") {
        if (!skip_block()) return false;
        const size_t begin = made_.size();
        remembered_.append(text_.substr(start, at_ - start), made_,
                           [&](std::string& out) { parse_attr(text_.substr(start, at_ - start), out); });
        Fields field(std::string_view(made_).substr(begin));
        if (!field.next()) return false;
        attrs_.push_back({std::string(map_entry(field->value).key), begin, made_.size() - begin});
        continue;
      }
      const uint32_t number = name == "name"     ? node_field::kName
                              : name == "op"     ? node_field::kOp
                              : name == "input"  ? node_field::kInput
                              : name == "device" ? node_field::kDevice
                                                 : 0;
      if (number == 0 || !takes(':')) return false;
      auto& texts = texts_[number];
      const std::optional<std::string_view> value = plain_string();
      if (!value || !valid_utf8(*value)) return false;
      if (number != node_field::kInput && (!texts.empty() || value->empty())) return false;
      texts.push_back(*value);
    }
    return at_ == text_.size();
  }

  void skip_blank() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }

  bool takes(char c) {
    skip_blank();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string_view word() {
    skip_blank();
    const size_t start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  // One string without escapes, and none behind it that would be joined to it.
  std::optional<std::string_view> plain_string() {
    if (!takes('"')) return std::nullopt;
    const size_t start = at_, end = text_.find_first_of("\"\\\n", start);
    if (end == std::string_view::npos || text_[end] != '"') return std::nullopt;
    at_ = end + 1;
    skip_blank();
    // Then the next field's name, or the end: neither of them is of another kind.
    if (at_ == text_.size() || !(is_word(text_[at_]) || text_[at_] == '}')) return std::nullopt;
    return text_.substr(start, end - start);
  }

  // To behind the brace that closes the one that stands here.
  bool skip_block() {
    if (!takes('{')) return false;
    for (size_t depth = 1; depth > 0; ++at_) {
      at_ = text_.find_first_of("{}\"'#", at_);
      if (at_ == std::string_view::npos) return false;
      if (text_[at_] == '{') {
        ++depth;
      } else if (text_[at_] == '}') {
        --depth;
      } else if (text_[at_] != '"') {
        return false;
      } else {
        for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) at_ += text_[at_] == '\\' ? 1 : 0;
        if (at_ >= text_.size()) return false;
      }
    }
    skip_blank();
    return at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '}');
  }

  std::string_view text_;
  size_t at_ = 0;
  std::array<std::vector<std::string_view>, node_field::kAttr> texts_;  // by field, of one node
  std::vector<Attr> attrs_;
  std::string made_, content_;
  Remembered remembered_;
};

class TextReader {
 public:
  TextReader(std::string_view text, std::string_view file) : text_(text), file_(file), assembler_("text") {
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;
  }

  std::string read(const Descriptor& type) {
    read_fields(type, 0, 0);
    parse_all();
    return assembler_.take();
  }

 private:
  // Fields up to `closer` (0: the end of the text), which `opened_at` calls for. Goes as deep as opened
  // messages do.
  void read_fields(const Descriptor& type, char closer, size_t opened_at) {
    std::set<const FieldDescriptor*> seen;
    size_t start = std::string_view::npos;  // of fields that have not been parsed yet
    Nodes nodes(std::in_place);             // they, where they all are nodes
    const auto flush = [&] {
      if (start != std::string_view::npos)
        parse({type, start, "", text_.substr(start, at_ - start), "", std::exchange(nodes, {})});
      start = std::string_view::npos;
      nodes.emplace();
    };
    for (;;) {
      const size_t before_blank = at_;
      skip_blank();
      if (at_ == text_.size() || text_[at_] == '}' || text_[at_] == '>') {
        if (at_ == text_.size() ? closer != 0 : text_[at_] != closer) {
          if (at_ == text_.size()) fail(opened_at, std::string("no '") + closer + "' closes this");
          fail(at_, std::string("'") + text_[at_] + "' closes nothing");
        }
        const size_t end = at_;
        at_ = before_blank;
        flush();
        at_ = end + (end < text_.size() ? 1 : 0);
        return;
      }
      const size_t name_at = at_;
      const FieldDescriptor* field = type.FindFieldByName(std::string(read_name()));
      if (field != nullptr && !field->is_repeated() && !seen.insert(field).second)
        fail(name_at, "non-repeated field \"" + field->name() + "\" is specified multiple times");
      const bool opens = field != nullptr && leads_to_opened(*field);
      const bool listed = field != nullptr && field->is_repeated() && peek_value() == '[';
      if (opens || listed) {
        const size_t after_name = at_;
        at_ = name_at;
        flush();
        at_ = after_name;
        skip_colon();
        read_value(type, *field);
      } else {
        if (start == std::string_view::npos) start = name_at;
        skip_colon();
        if (nodes && at_ < text_.size() && text_[at_] == '{' && is_nodes(field)) {
          skip_value();
          nodes->push_back(text_.substr(name_at, at_ - name_at));
        } else {
          skip_value();
          nodes.reset();
        }
      }
      skip_separator();
      if (start != std::string_view::npos && at_ - start > kPieceBytes) flush();
    }
  }

  // The value of an opened field, or a list of values.
  void read_value(const Descriptor& type, const FieldDescriptor& field) {
    if (at_ == text_.size() || text_[at_] != '[') return read_opened(field);
    if (!field.is_repeated()) fail(at_, "\"" + field.name() + "\" takes one value, not a list");
    const size_t list_at = at_++;
    size_t start = std::string_view::npos;
    const auto flush = [&] {
      if (start != std::string_view::npos)
        parse({type, start, field.name() + ": [", text_.substr(start, at_ - start), "]", {}});
      start = std::string_view::npos;
    };
    skip_blank();
    for (bool first = true; at_ < text_.size() && text_[at_] != ']'; first = false) {
      if (!first) {
        if (text_[at_] != ',') fail(at_, "expected ',' or ']' in the list");
        if (start != std::string_view::npos && at_ - start > kPieceBytes) flush();
        ++at_;
        skip_blank();
      }
      if (leads_to_opened(field)) {
        read_opened(field);
      } else {
        if (start == std::string_view::npos) start = at_;
        skip_value();
      }
      const size_t end = at_;
      skip_blank();
      if (at_ < text_.size() && text_[at_] == ']') {
        at_ = end;
        flush();
        skip_blank();
      }
    }
    if (at_ == text_.size()) fail(list_at, "no ']' closes this");
    ++at_;
  }

  void read_opened(const FieldDescriptor& field) {
    const size_t opened_at = at_;
    const char opener = at_ < text_.size() ? text_[at_] : 0;
    if (opener != '{' && opener != '<') fail(at_, "expected '{' after \"" + field.name() + "\"");
    ++at_;
    parse_all();
    const size_t begin = assembler_.begin();
    read_fields(*field.message_type(), opener == '{' ? '}' : '>', opened_at);
    parse_all();
    assembler_.end(field, begin);
  }

  using Nodes = std::optional<std::vector<std::string_view>>;

  // Fields of a message that are to be parsed: prefix + piece + suffix; `start` is where the piece stands in
  // the text.
  struct Job {
    const Descriptor& type;
    size_t start;
    std::string prefix;
    std::string_view piece;
    std::string_view suffix;
    Nodes nodes;
  };

  static bool is_nodes(const FieldDescriptor* field) {
    return field != nullptr && field->is_repeated() && field->message_type() != nullptr &&
           field->message_type()->full_name() == "tensorflow.NodeDef";
  }

  // In its turn, with others on all cores.
  void parse(Job job) {
    jobs_.push_back(std::move(job));
    if (jobs_.size() >= size_t{8} * thread_count()) parse_all();
  }

  void parse_all() {
    const std::vector<Job> jobs = std::exchange(jobs_, {});
    pieces_in_order(
        jobs.size(),
        [&](size_t i, std::string& bytes) {
          const auto room = rooms_.borrow([] { return std::make_unique<Room>(); });
          parse_now(jobs[i], *room, bytes);
        },
        [&](std::string_view bytes) { assembler_.append(bytes); });
  }

  // What one thread needs.
  struct Room {
    PieceArena arena;
    PartWriter writer{"text"};
    NodeParser nodes;
  };

  void parse_now(const Job& job, Room& room, std::string& bytes) const {
    if (!job.nodes) return parse_fields(job.type, job.start, job.prefix, job.piece, job.suffix, room, bytes);
    const auto parse_attr = [&](std::string_view attr, std::string& out) {
      Message& node = room.arena.make(message_type("tensorflow.NodeDef"));
      TextFault fault;
      if (!parse_message_text(attr, node, fault)) throw Error(Cause::kInput, fault.message);
      room.writer.append(node, out);
    };
    for (const std::string_view node : *job.nodes) {
      if (room.nodes.parse(node, parse_attr, bytes)) continue;
      const auto start = static_cast<size_t>(node.data() - text_.data());
      parse_fields(job.type, start, "", node, "", room, bytes);
    }
  }

  void parse_fields(const Descriptor& type, size_t start, const std::string& prefix, std::string_view piece,
                    std::string_view suffix, Room& room, std::string& bytes) const {
    std::string wrapped;
    std::string_view whole = piece;
    if (!prefix.empty()) {
      wrapped = prefix;
      wrapped += piece;
      wrapped += suffix;
      whole = wrapped;
    }
    Message& part = room.arena.make(type);
    TextFault fault;
    if (!parse_message_text(whole, part, fault)) {
      const size_t offset = fault.offset_in(whole);
      throw error_at(text_, start + std::min(offset - std::min(offset, prefix.size()), piece.size()), file_,
                     fault.message);
    }
    try {
      room.writer.append(part, bytes);
    } catch (const Error& error) {
      throw error.in(file_);
    }
  }

  [[noreturn]] void fail(size_t offset, std::string message) {
    parse_all();  // what stands before it is told first
    throw error_at(text_, offset, file_, std::move(message));
  }

  void skip_blank() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::string_view read_name() {
    const size_t start = at_;
    if (text_[at_] == '[') {  // an extension or Any, which no graph has at this level; TextFormat says so
      at_ = std::min(text_.find(']', at_), text_.size() - 1) + 1;
      return {};
    }
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (at_ == start) fail(at_, "expected a field's name, found '" + printable(text_.substr(at_, 1)) + "'");
    return text_.substr(start, at_ - start);
  }

  void skip_colon() {
    skip_blank();
    if (at_ < text_.size() && text_[at_] == ':') {
      ++at_;
      skip_blank();
    }
  }

  char peek_value() {
    const size_t here = at_;
    skip_colon();
    const char found = at_ < text_.size() ? text_[at_] : '\0';
    at_ = here;
    return found;
  }

  void skip_separator() {
    const size_t here = at_;
    skip_blank();
    if (at_ < text_.size() && (text_[at_] == ';' || text_[at_] == ',')) {
      ++at_;
    } else {
      at_ = here;
    }
  }

  void skip_value() {
    if (at_ == text_.size()) fail(at_, "expected a value, found the end");
    const char c = text_[at_];
    if (c == '{' || c == '<' || c == '[') return skip_block();
    if (c == '"' || c == '\'') {
      for (;;) {
        skip_string();  // neighbours are one string
        const size_t end = at_;
        skip_blank();
        if (at_ == text_.size() || (text_[at_] != '"' && text_[at_] != '\'')) {
          at_ = end;
          return;
        }
      }
      return;
    }
    const size_t start = at_;
    if (c == '-') {
      ++at_;
      skip_blank();
    }
    while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '.' || text_[at_] == '+' ||
                                  (text_[at_] == '-' && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E'))))
      ++at_;
    if (at_ == start) fail(at_, "expected a value, found '" + printable(text_.substr(at_, 1)) + "'");
  }

  // To the brace that closes the one here. Which kind closes which is for TextFormat to see.
  void skip_block() {
    const size_t opened_at = at_;
    for (size_t depth = 0; at_ < text_.size();) {
      switch (text_[at_]) {
        case '{':
        case '<':
        case '[':
          ++depth;
          ++at_;
          break;
        case '}':
        case '>':
        case ']':
          ++at_;
          if (--depth == 0) return;
          break;
        case '"':
        case '\'':
          skip_string();
          break;
        case '#':
          skip_blank();
          break;
        default:
          ++at_;
      }
    }
    fail(opened_at, std::string("nothing closes this '") + text_[opened_at] + "'");
  }

  void skip_string() {
    const size_t start = at_;
    const char quote = text_[at_++];
    for (; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == quote) {
        ++at_;
        return;
      }
      if (text_[at_] == '\\') ++at_;
    }
    fail(start, "a string that does not end on its line");
  }

  std::string_view text_;
  std::string_view file_;
  size_t at_ = 0;
  std::vector<Job> jobs_;
  Rooms<Room> rooms_;
  Assembler assembler_;
};

}  // namespace

std::string parse_text(Kind kind, std::string_view text, std::string_view file) {
  return TextReader(text, file).read(descriptor_of(kind));
}

}  // namespace gedit
