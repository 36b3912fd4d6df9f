// Writes protobuf text by protobuf's printer, with TensorFlow's way of writing numbers and strings.
#include <fmt/format.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/utf8.h"
#include "base/wire.h"
#include "graph/node.h"
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

// What stands between the quotes of a string.
void escape(std::string_view value, bool keep_utf8, std::string& out) {
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    const char letter = c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : c;
    if (letter != c || c == '"' || c == '\'' || c == '\\') {
      out += '\\';
      out += letter;
    } else if (byte < 0x20 || byte == 0x7f || (byte > 0x7f && !keep_utf8)) {
      out += '\\';
      out += static_cast<char>('0' + (byte >> 6));
      out += static_cast<char>('0' + ((byte >> 3) & 7));
      out += static_cast<char>('0' + (byte & 7));
    } else {
      out += c;
    }
  }
}

constexpr size_t kQuotedAtOnce = 4096;

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
    std::string piece = "\"";
    for (size_t at = 0; at < value.size(); at += kQuotedAtOnce) {
      escape(value.substr(at, kQuotedAtOnce), keep_utf8, piece);
      out.Print(piece.data(), piece.size());
      piece.clear();
    }
    piece += '"';
    out.Print(piece.data(), piece.size());
  }
};

// One node, which in a large graph differs from a thousand others only in what it is called and what it
// reads: each attribute is printed by protobuf once, and the rest is text between quotes.
class NodePrinter {
 public:
  NodePrinter(const TextFormat::Printer& inner, std::string indent)
      : type_(message_type("tensorflow.NodeDef")), inner_(inner), indent_(std::move(indent)) {}

  // Whether it did: false for what needs protobuf's look at the whole, such as anything that is wrong with
  // it.
  bool print(std::string_view node_def, PartReader& reader, std::string& text) {
    for (auto& texts : texts_) texts.clear();
    attrs_.clear();
    for (Fields fields(node_def); fields.next();) {
      if (fields->wire != Wire::kBytes || fields->number == 0 || fields->number > node_field::kAttr)
        return false;
      if (fields->number == node_field::kAttr) {
        attrs_.push_back({map_key(fields->value), fields->raw});
        continue;
      }
      auto& texts = texts_[fields->number];
      if (fields->number != node_field::kInput) {
        if (!texts.empty() || fields->value.empty()) return false;
      }
      if (!valid_utf8(fields->value)) return false;
      texts.push_back(fields->value);
    }
    std::sort(attrs_.begin(), attrs_.end(), [](const Attr& a, const Attr& b) { return a.key < b.key; });
    for (size_t i = 1; i < attrs_.size(); ++i) {
      if (attrs_[i].key == attrs_[i - 1].key) return false;
    }
    static constexpr std::array<std::string_view, node_field::kAttr> kWords = {"", "name", "op", "input",
                                                                               "device"};
    for (uint32_t number = node_field::kName; number < node_field::kAttr; ++number) {
      for (const std::string_view value : texts_[number]) {
        text.append(indent_).append(kWords[number]).append(": \"");
        escape(value, true, text);
        text += "\"\n";
      }
    }
    const FieldDescriptor& field = *type_.FindFieldByNumber(node_field::kAttr);
    for (const Attr& attr : attrs_) {
      reader.printed().append(attr.raw, text, [&](std::string& out) {
        google::protobuf::io::StringOutputStream stream(&out);
        if (!inner_.Print(reader.read(field, attr.raw), &stream)) throw Error(Cause::kWrite, kCannotPrint);
      });
    }
    return true;
  }

  static constexpr const char* kCannotPrint = "cannot print as text";

 private:
  struct Attr {
    std::string_view key, raw;
  };

  const google::protobuf::Descriptor& type_;
  const TextFormat::Printer& inner_;
  std::string indent_;
  std::array<std::vector<std::string_view>, node_field::kAttr> texts_;  // by field, of one node
  std::vector<Attr> attrs_;
};

class TextWriter final : public Receiver {
 public:
  explicit TextWriter(Sink& out) : out_(out) {
    for (TextFormat::Printer* printer : {&printer_, &inner_})
      printer->SetDefaultFieldValuePrinter(std::make_unique<ValuePrinter>().release());  // takes it over
    deeper(0);
  }

  void begin(const FieldDescriptor& field) override {
    line(std::string(field.name()) + " {\n");
    deeper(1);
  }
  void end(const FieldDescriptor& /*field*/) override {
    deeper(-1);
    line("}\n");
  }
  void print(const FieldDescriptor& field, std::string_view bytes, PartReader& reader,
             std::string& text) const override {
    const bool of_nodes = field.message_type() != nullptr &&
                          field.message_type()->full_name() == "tensorflow.NodeDef" && field.is_repeated();
    if (!of_nodes) return print_whole(field, bytes, reader, text);
    const std::string indent(2 * static_cast<size_t>(depth_), ' '), opening = indent + field.name() + " {\n";
    NodePrinter nodes(inner_, indent + "  ");
    for (Fields fields(bytes); fields.next();) {
      const size_t start = text.size();
      text += opening;
      bool printed = false;
      try {
        printed = nodes.print(fields->value, reader, text);
      } catch (const Error&) {  // is thrown again by who can say in which node
      }
      if (printed) {
        text.append(indent).append("}\n");
      } else {
        text.resize(start);
        print_whole(field, fields->raw, reader, text);
      }
    }
  }
  void piece(const FieldDescriptor& /*field*/, std::string_view text) override { out_.write(text); }

 private:
  void print_whole(const FieldDescriptor& field, std::string_view bytes, PartReader& reader,
                   std::string& text) const {
    google::protobuf::io::StringOutputStream stream(&text);
    if (!printer_.Print(reader.read(field, bytes), &stream))
      throw Error(Cause::kWrite, NodePrinter::kCannotPrint);
  }

  void deeper(int levels) {
    depth_ += levels;
    printer_.SetInitialIndentLevel(depth_);
    inner_.SetInitialIndentLevel(depth_ + 1);
  }
  void line(std::string_view text) {
    out_.write(std::string(2 * static_cast<size_t>(depth_), ' ').append(text));
  }

  Sink& out_;
  TextFormat::Printer printer_, inner_;  // inner_: for what stands in a message of an opened one
  int depth_ = 0;
};

}  // namespace

void write_text(Kind kind, std::string_view message, std::string_view file, bool drop_unknown, Sink& out) {
  TextWriter writer(out);
  take_apart(kind, message, file, {.word = "text"}, drop_unknown, writer);
}

void silence_protobuf() { google::protobuf::SetLogHandler(nullptr); }

}  // namespace gedit
