// Reads protobuf text: a scanner of braces, quotes and comments cuts it into top-level fields, a few of which
// are parsed together, on all cores.
#include <algorithm>
#include <set>
#include <utility>

#include "base/letters.h"
#include "base/parallel.h"
#include "message/fields.h"
#include "message/text.h"
#include "model/text.h"
#include "model/transcode.h"

namespace gedit {
namespace {

class TextReader {
 public:
  TextReader(std::string_view text, std::string_view file) : text_(text), file_(file) {
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;
  }

  std::string read(const MessageType& type) {
    read_fields(type, 0, 0);
    parse_all();
    return std::move(bytes_);
  }

 private:
  // Fields up to `closer` (0: the end of the text), which `opened_at` calls for. Goes as deep as opened
  // messages do.
  void read_fields(const MessageType& type, char closer, size_t opened_at) {
    std::set<const MessageField*> seen;
    size_t start = std::string_view::npos;  // of fields that have not been parsed yet
    const auto flush = [&] {
      if (start != std::string_view::npos) parse({type, start, "", text_.substr(start, at_ - start), ""});
      start = std::string_view::npos;
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
      const MessageField* field = type.field_named(read_name());
      if (field != nullptr && !field->repeated && !seen.insert(field).second)
        fail(name_at, "non-repeated field \"" + field->name + "\" is specified multiple times");
      const bool opens = field != nullptr && leads_to_opened(*field);
      const bool listed = field != nullptr && field->repeated && peek_value() == '[';
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
        skip_value();
      }
      skip_separator();
      if (start != std::string_view::npos && at_ - start > kPieceBytes) flush();
    }
  }

  // The value of an opened field, or a list of values.
  void read_value(const MessageType& type, const MessageField& field) {
    if (at_ == text_.size() || text_[at_] != '[') return read_opened(field);
    if (!field.repeated) fail(at_, "\"" + field.name + "\" takes one value, not a list");
    const size_t list_at = at_++;
    size_t start = std::string_view::npos;
    const auto flush = [&] {
      if (start != std::string_view::npos)
        parse({type, start, field.name + ": [", text_.substr(start, at_ - start), "]"});
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

  void read_opened(const MessageField& field) {
    const size_t opened_at = at_;
    const char opener = at_ < text_.size() ? text_[at_] : 0;
    if (opener != '{' && opener != '<') fail(at_, "expected '{' after \"" + field.name + "\"");
    ++at_;
    parse_all();
    append_message(bytes_, field.number, [&] {
      read_fields(*field.message, opener == '{' ? '}' : '>', opened_at);
      parse_all();
    });
  }

  // Fields of a message that are to be parsed: prefix + piece + suffix; `start` is where the piece stands in
  // the text.
  struct Job {
    const MessageType& type;
    size_t start;
    std::string prefix;
    std::string_view piece;
    std::string_view suffix;
  };

  // In its turn, with others on all cores.
  void parse(Job job) {
    jobs_.push_back(std::move(job));
    if (jobs_.size() >= size_t{8} * thread_count()) parse_all();
  }

  void parse_all() {
    const std::vector<Job> jobs = std::exchange(jobs_, {});
    pieces_in_order(
        jobs.size(), [&](size_t i, std::string& bytes) { parse_now(jobs[i], bytes); },
        [&](std::string_view bytes) { bytes_ += bytes; });
  }

  void parse_now(const Job& job, std::string& bytes) const {
    std::string wrapped;
    std::string_view whole = job.piece;
    if (!job.prefix.empty()) {
      wrapped.append(job.prefix).append(job.piece).append(job.suffix);
      whole = wrapped;
    }
    const size_t start = bytes.size();
    if (const auto fault = parse_message_text(whole, job.type, bytes)) {
      const size_t offset = fault->offset - std::min(fault->offset, job.prefix.size());
      throw error_at(text_, job.start + std::min(offset, job.piece.size()), file_, fault->message);
    }
    try {
      Checker({.word = "text", .reading = true}, false)
          .check(job.type, std::string_view(bytes).substr(start));
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
      } else if (is_text_blank(c)) {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::string_view read_name() {
    const size_t start = at_;
    if (text_[at_] == '[') {  // an extension or Any, which no graph has at this level; the parser says so
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

  // To the brace that closes the one here. Which kind closes which is for the parser to see.
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
  std::string bytes_;
};

}  // namespace

std::string parse_text(Kind kind, std::string_view text, std::string_view file) {
  return TextReader(text, file).read(message_type_of(kind));
}

}  // namespace gedit
