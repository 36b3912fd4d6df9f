// Writes protobuf text by protobuf's printer, with TensorFlow's way of writing numbers and strings.
#include <fmt/format.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

#include <array>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "model/text.h"
#include "model/transcode.h"

namespace gedit {
namespace {

using google::protobuf::TextFormat;

// As Python's repr: what fmt writes by default, but for whole numbers.
template <typename Number>
std::string text_form_float(Number value) {
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

  void PrintFloat(float value, Generator* out) const override { out->PrintString(text_form_float(value)); }
  void PrintDouble(double value, Generator* out) const override { out->PrintString(text_form_float(value)); }
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

class TextWriter final : public Receiver {
 public:
  explicit TextWriter(Sink& out) : out_(out) {
    printer_.SetDefaultFieldValuePrinter(std::make_unique<ValuePrinter>().release());  // takes it over
  }

  void begin(const FieldDescriptor& field) override {
    line(std::string(field.name()) + " {\n");
    deeper(1);
  }
  void end(const FieldDescriptor& /*field*/) override {
    deeper(-1);
    line("}\n");
  }
  void print(const Message& part, std::string& text) const override {
    google::protobuf::io::StringOutputStream stream(&text);
    if (!printer_.Print(part, &stream)) throw Error(Cause::kWrite, "cannot print as text");
  }
  void piece(const FieldDescriptor& /*field*/, std::string_view text) override { out_.write(text); }

 private:
  void deeper(int levels) {
    depth_ += levels;
    printer_.SetInitialIndentLevel(depth_);
  }
  void line(std::string_view text) {
    out_.write(std::string(2 * static_cast<size_t>(depth_), ' ').append(text));
  }

  Sink& out_;
  TextFormat::Printer printer_;
  int depth_ = 0;
};

}  // namespace

void write_text(Kind kind, std::string_view message, std::string_view file, bool drop_unknown, Sink& out) {
  TextWriter writer(out);
  take_apart(kind, message, file, {.word = "text"}, drop_unknown, writer);
}

void silence_protobuf() { google::protobuf::SetLogHandler(nullptr); }

}  // namespace gedit
