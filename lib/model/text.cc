// Writing leans on protobuf's printer, with TensorFlow's way of writing numbers and strings. Reading cuts the
// text into top-level fields with a scanner of braces, quotes and comments, and gives each piece to
// TextFormat.
#include "model/text.h"

#include <fmt/format.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <array>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <set>

#include "model/transcode.h"

namespace gedit {
namespace {

using google::protobuf::TextFormat;

// As Python's repr: what fmt writes by default, but for whole numbers.
template <typename Number>
std::string float_text(Number value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text;
  if constexpr (std::is_same_v<Number, float>) {
    // Below the normal range fewer digits are enough than Python's six.
    if (value != 0 && std::fabs(value) < FLT_MIN) {
      for (int digits = 6; digits <= 9; ++digits) {
        std::array<char, 32> buffer{};
        std::snprintf(buffer.data(), buffer.size(), "%.*g", digits, static_cast<double>(value));
        text = buffer.data();
        if (std::strtof(buffer.data(), nullptr) == value) return text;
      }
      return text;
    }
  }
  text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

class ValuePrinter final : public TextFormat::FastFieldValuePrinter {
 public:
  using Generator = TextFormat::BaseTextGenerator;

  void PrintFloat(float value, Generator* out) const override { out->PrintString(float_text(value)); }
  void PrintDouble(double value, Generator* out) const override { out->PrintString(float_text(value)); }
  void PrintString(const std::string& value, Generator* out) const override { quote(value, true, *out); }
  void PrintBytes(const std::string& value, Generator* out) const override { quote(value, false, *out); }

 private:
  // In pieces, since weights come through here.
  static void quote(std::string_view value, bool keep_utf8, Generator& out) {
    constexpr size_t kRoom = 512;
    std::array<char, kRoom> room{};
    size_t used = 0;
    room[used++] = '"';
    for (const char c : value) {
      if (used + 4 > kRoom) {
        out.Print(room.data(), used);
        used = 0;
      }
      const auto byte = static_cast<unsigned char>(c);
      const char letter = c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : c;
      if (letter != c || c == '"' || c == '\'' || c == '\\') {
        room[used++] = '\\';
        room[used++] = letter;
      } else if (byte < 0x20 || byte == 0x7f || (byte > 0x7f && !keep_utf8)) {
        room[used++] = '\\';
        room[used++] = static_cast<char>('0' + (byte >> 6));
        room[used++] = static_cast<char>('0' + ((byte >> 3) & 7));
        room[used++] = static_cast<char>('0' + (byte & 7));
      } else {
        room[used++] = c;
      }
    }
    out.Print(room.data(), used);
    out.PrintLiteral("\"");
  }
};

// What the sink throws must not pass through protobuf, whose destructors write once more.
class SinkStream final : public google::protobuf::io::CopyingOutputStream {
 public:
  explicit SinkStream(Sink& sink) : sink_(sink) {}

  bool Write(const void* bytes, int size) override {
    try {
      sink_.write({static_cast<const char*>(bytes), static_cast<size_t>(size)});
      return true;
    } catch (...) {
      failure_ = std::current_exception();
      return false;
    }
  }
  [[noreturn]] void rethrow() const {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
    throw Error(Cause::kWrite, "cannot print as text");
  }

 private:
  Sink& sink_;
  std::exception_ptr failure_;
};

class TextWriter final : public Receiver {
 public:
  explicit TextWriter(Sink& out) : out_(out), sink_(out), stream_(&sink_, kPieceBytes) {
    printer_.SetDefaultFieldValuePrinter(std::make_unique<ValuePrinter>().release());  // takes it over
  }

  void begin(const FieldDescriptor& field) override {
    line(std::string(field.name()) + " {\n");
    ++depth_;
  }
  void end(const FieldDescriptor& /*field*/) override {
    --depth_;
    line("}\n");
  }
  void piece(const FieldDescriptor& /*field*/, const Message& part) override {
    printer_.SetInitialIndentLevel(depth_);
    if (!printer_.Print(part, &stream_) || !stream_.Flush()) sink_.rethrow();
  }

 private:
  void line(std::string_view text) {
    out_.write(std::string(2 * static_cast<size_t>(depth_), ' ').append(text));
  }

  Sink& out_;
  SinkStream sink_;
  google::protobuf::io::CopyingOutputStreamAdaptor stream_;
  TextFormat::Printer printer_;
  int depth_ = 0;
};

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Keeps the first error; warnings (deprecated fields) have nobody to tell.
class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!message_.empty()) return;
    line_ = line;
    column_ = column;
    message_ = message;
  }
  void AddWarning(int /*line*/, int /*column*/, const std::string& /*message*/) override {}

  const std::string& message() const { return message_; }

  // Where in the piece; protobuf counts a tab as up to eight columns.
  size_t offset_in(std::string_view piece) const {
    size_t at = 0;
    for (int line = 0; line < line_; ++line) {
      const size_t newline = piece.find('\n', at);
      if (newline == std::string_view::npos) return piece.size();
      at = newline + 1;
    }
    for (int column = 0; column < column_ && at < piece.size(); ++at)
      column += piece[at] == '\t' ? 8 - column % 8 : 1;
    return at;
  }

 private:
  int line_ = 0, column_ = 0;
  std::string message_;
};

class TextReader {
 public:
  TextReader(std::string_view text, std::string_view file) : text_(text), file_(file), assembler_("text") {
    parser_.SetRecursionLimit(kDeepestNesting);
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;
  }

  std::string read(const Descriptor& type) {
    read_fields(type, 0, 0);
    return assembler_.take();
  }

 private:
  // Fields up to `closer` (0: the end of the text), which `opened_at` calls for. Goes as deep as opened
  // messages do.
  void read_fields(const Descriptor& type, char closer, size_t opened_at) {
    std::set<const FieldDescriptor*> seen;
    size_t start = std::string_view::npos;  // of fields that have not been parsed yet
    const auto flush = [&] {
      if (start != std::string_view::npos) parse(type, start, "", text_.substr(start, at_ - start), "");
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
        skip_value();
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
        parse(type, start, field.name() + ": [", text_.substr(start, at_ - start), "]");
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
    const size_t begin = assembler_.begin();
    read_fields(*field.message_type(), opener == '{' ? '}' : '>', opened_at);
    assembler_.end(field, begin);
  }

  // Parses prefix + piece + suffix; `start` is where the piece stands in the text.
  void parse(const Descriptor& type, size_t start, const std::string& prefix, std::string_view piece,
             std::string_view suffix) {
    std::string wrapped;
    std::string_view whole = piece;
    if (!prefix.empty()) {
      wrapped = prefix;
      wrapped += piece;
      wrapped += suffix;
      whole = wrapped;
    }
    if (whole.size() > INT_MAX) fail(start, "a field of over 2 GiB");
    FirstError errors;
    parser_.RecordErrorsTo(&errors);
    Message& part = arena_.make(type);
    google::protobuf::io::ArrayInputStream stream(whole.data(), static_cast<int>(whole.size()));
    const bool parsed = parser_.Parse(&stream, &part);
    parser_.RecordErrorsTo(nullptr);
    if (!parsed) {
      const size_t offset = errors.offset_in(whole);
      fail(start + std::min(offset - std::min(offset, prefix.size()), piece.size()),
           as_clause(errors.message()));
    }
    try {
      assembler_.append(part);
    } catch (const Error& error) {
      throw error.in(file_);
    }
  }

  [[noreturn]] void fail(size_t offset, std::string message) const {
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
      for (size_t end = at_; at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'');) {
        skip_string();  // neighbours are one string
        end = at_;
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
  TextFormat::Parser parser_;
  PieceArena arena_;
  Assembler assembler_;
};

}  // namespace

void write_text(Kind kind, std::string_view message, std::string_view file, bool drop_unknown, Sink& out) {
  TextWriter writer(out);
  take_apart(kind, message, file, {.word = "text"}, drop_unknown, writer);
}

std::string parse_text(Kind kind, std::string_view text, std::string_view file) {
  return TextReader(text, file).read(descriptor_of(kind));
}

}  // namespace gedit
