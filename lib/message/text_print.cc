#include <array>
#include <bit>

#include "message/fields.h"
#include "message/float_text.h"
#include "message/text.h"

namespace gedit {
namespace {

using namespace std::string_view_literals;

// By byte, since names and values are most of a text.
constexpr std::array<bool, 256> stand_for_themselves(bool keep_utf8) {
  std::array<bool, 256> all{};
  for (size_t byte = 0; byte < all.size(); ++byte)
    all[byte] = byte >= 0x80 ? keep_utf8
                             : byte >= 0x20 && byte != 0x7f && byte != '"' && byte != '\'' && byte != '\\';
  return all;
}

// What stands between the quotes of a string.
void append_text_escaped(std::string& out, std::string_view value, bool keep_utf8) {
  static constexpr auto kInUtf8 = stand_for_themselves(true), kInAscii = stand_for_themselves(false);
  const std::array<bool, 256>& as_they_are = keep_utf8 ? kInUtf8 : kInAscii;
  for (size_t at = 0; at < value.size(); ++at) {
    const size_t start = at;
    while (at < value.size() && as_they_are[static_cast<unsigned char>(value[at])]) ++at;
    out += value.substr(start, at - start);
    if (at == value.size()) return;
    const char c = value[at];
    const char letter = c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : c;
    out += '\\';
    if (letter != c || c == '"' || c == '\'' || c == '\\') {
      out += letter;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    for (const int shift : {6, 3, 0}) out += static_cast<char>('0' + ((byte >> shift) & 7));
  }
}

class TextPrinter {
 public:
  TextPrinter(std::string& out, TextStyle style, int depth)
      : out_(out), style_(style), blanks_(2 * static_cast<size_t>(depth + kDeepestNesting + 1), ' ') {}

  void print(const MessageType& type, std::string_view bytes, int depth) {
    fields_.read(type, bytes, [&](const MessageField& field, size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) print_value(field, fields_[i], depth);
    });
  }

 private:
  void print_value(const MessageField& field, const Field& value, int depth) {
    if (field.packable())
      return each_number(value, field.wire, [&](uint64_t number) { print_number(field, number, depth); });
    begin_line(depth);
    out_ += field.name;
    if (field.type == FieldType::kMessage) {
      out_ += in_lines() ? " {\n"sv : " { "sv;
      print(*field.message, value.value, depth + 1);
      begin_line(depth);
      out_ += in_lines() ? "}\n"sv : "} "sv;
    } else {
      out_ += ": \""sv;
      append_text_escaped(out_, value.value, in_lines() && field.type == FieldType::kString);
      out_ += in_lines() ? "\"\n"sv : "\" "sv;
    }
  }

  void print_number(const MessageField& field, uint64_t wire_number, int depth) {
    begin_line(depth);
    out_.append(field.name).append(": "sv);
    append_text(field, number_of(field.type, wire_number));
    out_ += in_lines() ? '\n' : ' ';
  }

  void append_text(const MessageField& field, uint64_t number) {
    const bool python = in_lines();
    switch (field.type) {
      case FieldType::kFloat: {
        const auto value = std::bit_cast<float>(static_cast<uint32_t>(number));
        return python ? append_python_float(out_, value) : append_short_float(out_, value);
      }
      case FieldType::kDouble: {
        const auto value = std::bit_cast<double>(number);
        return python ? append_python_double(out_, value) : append_short_double(out_, value);
      }
      case FieldType::kBool:
        out_ += number == 0 ? "false" : "true";
        return;
      case FieldType::kEnum: {
        const std::string* name = field.enumeration->name_of(static_cast<int32_t>(number));
        out_ += name != nullptr ? *name : std::to_string(static_cast<int32_t>(number));
        return;
      }
      default:
        append_digits_of(out_, field.type, number);
    }
  }

  bool in_lines() const { return style_ == TextStyle::kLines; }
  void begin_line(int depth) {
    if (in_lines()) out_ += std::string_view(blanks_).substr(0, 2 * static_cast<size_t>(depth));
  }

  std::string& out_;
  TextStyle style_;
  std::string blanks_;
  MessageFields fields_;
};

}  // namespace

void print_message_text(std::string& out, const MessageType& type, std::string_view bytes, TextStyle style,
                        int depth) {
  const size_t start = out.size();
  TextPrinter(out, style, depth).print(type, bytes, depth);
  while (style == TextStyle::kLine && out.size() > start && out.back() == ' ') out.pop_back();
}

}  // namespace gedit
