#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "base/base64.h"
#include "base/utf8.h"
#include "message/fields.h"
#include "message/float_text.h"
#include "message/json.h"

namespace gedit {
namespace {

void append_unit(std::string& out, uint32_t unit) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[(unit >> shift) & 0xf];
}

// Characters that protobuf does not write as they are: they are invisible, or mean something in HTML.
bool is_hidden_in_json(uint32_t code) {
  static constexpr std::array<std::pair<uint32_t, uint32_t>, 16> kHidden = {{{0x00, 0x1f},
                                                                             {'<', '<'},
                                                                             {'>', '>'},
                                                                             {0x7f, 0x9f},
                                                                             {0xad, 0xad},
                                                                             {0x600, 0x603},
                                                                             {0x6dd, 0x6dd},
                                                                             {0x70f, 0x70f},
                                                                             {0x17b4, 0x17b5},
                                                                             {0x200b, 0x200f},
                                                                             {0x2028, 0x202e},
                                                                             {0x2060, 0x2064},
                                                                             {0x206a, 0x206f},
                                                                             {0xfeff, 0xfeff},
                                                                             {0xfff9, 0xfffb},
                                                                             {0x1d173, 0x1d17a}}};
  for (const auto& [first, last] : kHidden) {
    if (code >= first && code <= last) return true;
  }
  return code == 0xe0001 || (code >= 0xe0020 && code <= 0xe007f);
}

// Most characters are.
bool is_plain_in_json(char c) {
  return c >= ' ' && c < 0x7f && c != '"' && c != '\\' && c != '<' && c != '>';
}

// `text` is UTF-8.
void append_quoted(std::string& out, std::string_view text) {
  constexpr std::string_view kLetters = "btnfr\"\\", kMeanings = "\b\t\n\f\r\"\\";
  out += '"';
  for (;;) {
    size_t plain = 0;
    while (plain < text.size() && is_plain_in_json(text[plain])) ++plain;
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const size_t length = std::max(utf8_length(text), size_t{1});
    const uint32_t code = utf8_code_point(text, length);
    const size_t letter = code < 0x80 ? kMeanings.find(text[0]) : std::string_view::npos;
    if (letter != std::string_view::npos) {
      out += '\\';
      out += kLetters[letter];
    } else if (!is_hidden_in_json(code)) {
      out += text.substr(0, length);
    } else if (code < 0x10000) {
      append_unit(out, code);
    } else {
      append_unit(out, 0xd800 + ((code - 0x10000) >> 10));
      append_unit(out, 0xdc00 + ((code - 0x10000) & 0x3ff));
    }
    text.remove_prefix(length);
  }
  out += '"';
}

template <typename Number>
void append_float(std::string& out, Number value) {
  if (std::isnan(value)) {
    out += "\"NaN\"";
  } else if (std::isinf(value)) {
    out += value < 0 ? "\"-Infinity\"" : "\"Infinity\"";
  } else if (value == 0) {
    out += std::signbit(value) ? "-0.0" : "0";  // `-0` would be read as the integer
  } else if constexpr (std::is_same_v<Number, float>) {
    append_short_float(out, value);
  } else {
    append_short_double(out, value);
  }
}

class JsonPrinter {
 public:
  explicit JsonPrinter(std::string& out) : out_(out) {}

  void print(const MessageType& type, std::string_view bytes) {
    if (type.is_wrapper()) return print_wrapped(type, bytes);
    out_ += '{';
    if (type.is_any()) {
      print_any(type, bytes);
    } else {
      print_members(type, bytes, true);
    }
    out_ += '}';
  }

  // Each value behind a line end.
  void print_lines(const MessageField& field, std::string_view bytes) {
    fields_.read(*field.containing, bytes, [&](const MessageField& found, size_t begin, size_t end) {
      if (&found != &field) return;
      const size_t start = out_.size();
      print_values(field, begin, end, '\n');
      if (out_.size() > start) out_ += '\n';
    });
  }

 private:
  void print_wrapped(const MessageType& type, std::string_view bytes) {
    bool printed = false;
    fields_.read(type, bytes, [&](const MessageField& field, size_t begin, size_t /*end*/) {
      print_value(field, fields_[begin]);
      printed = true;
    });
    if (!printed) print_value(type.fields[0], default_value(type.fields[0]));
  }

  void print_members(const MessageType& type, std::string_view bytes, bool first) {
    fields_.read(type, bytes, [&](const MessageField& field, size_t begin, size_t end) {
      if (!std::exchange(first, false)) out_ += ',';
      out_.append("\"").append(field.name).append("\":");
      if (!field.repeated) return print_values(field, begin, end, ',');
      out_ += field.is_map() ? '{' : '[';
      print_values(field, begin, end, ',');
      out_ += field.is_map() ? '}' : ']';
    });
  }

  void print_values(const MessageField& field, size_t begin, size_t end, char between) {
    const size_t start = out_.size();
    const auto separate = [&] {
      if (out_.size() > start) out_ += between;
    };
    for (size_t i = begin; i < end; ++i) {
      const Field value = fields_[i];
      if (field.packable()) {
        each_number(value, field.wire, [&](uint64_t number) {
          separate();
          print_number(field, number);
        });
        continue;
      }
      separate();
      if (field.is_map()) {
        print_entry(*field.message, value.value);
      } else {
        print_value(field, value);
      }
    }
  }

  void print_entry(const MessageType& type, std::string_view entry) {
    fields_.read(type, entry, [&](const MessageField& part, size_t begin, size_t /*end*/) {
      if (part.place != 0) return print_value(part, fields_[begin]);
      print_key(part, fields_[begin]);
      out_ += ':';
    });
  }

  // In quotes whatever it is.
  void print_key(const MessageField& key, const Field& value) {
    if (!key.packable()) return append_quoted(out_, value.value);
    out_ += '"';
    each_number(value, key.wire, [&](uint64_t number) { append_digits_of(out_, key.type, number); });
    out_ += '"';
  }

  void print_any(const MessageType& type, std::string_view bytes) {
    const std::string_view url = last_bytes(bytes, type.fields[0].number);
    const std::string_view held = last_bytes(bytes, type.fields[1].number);
    if (url.empty()) return;
    out_ += "\"@type\":";
    append_quoted(out_, url);
    const MessageType* inner = find_message_type(url.substr(url.rfind('/') + 1));
    if (inner == nullptr) return;
    if (inner->is_wrapper() || inner->is_any()) {
      out_ += ",\"value\":";
      print(*inner, held);
    } else {
      print_members(*inner, held, false);
    }
  }

  void print_value(const MessageField& field, const Field& value) {
    if (field.type == FieldType::kMessage) return print(*field.message, value.value);
    if (field.type == FieldType::kString) return append_quoted(out_, value.value);
    if (field.packable())
      return each_number(value, field.wire, [&](uint64_t number) { print_number(field, number); });
    out_ += '"';
    append_base64(out_, value.value);
    out_ += '"';
  }

  void print_number(const MessageField& field, uint64_t wire_number) {
    const uint64_t number = number_of(field.type, wire_number);
    switch (field.type) {
      case FieldType::kFloat:
        return append_float(out_, std::bit_cast<float>(static_cast<uint32_t>(number)));
      case FieldType::kDouble:
        return append_float(out_, std::bit_cast<double>(number));
      case FieldType::kBool:
        out_ += number == 0 ? "false" : "true";
        return;
      case FieldType::kEnum:
        if (const std::string* name = field.enumeration->name_of(static_cast<int32_t>(number))) {
          append_quoted(out_, *name);
          return;
        }
        break;
      case FieldType::kInt64:
      case FieldType::kUint64:
      case FieldType::kSint64:
      case FieldType::kFixed64:
      case FieldType::kSfixed64:  // more digits than many readers of JSON keep
        out_ += '"';
        append_digits_of(out_, field.type, number);
        out_ += '"';
        return;
      default:
        break;
    }
    append_digits_of(out_, field.type, number);
  }

  std::string& out_;
  MessageFields fields_;
};

}  // namespace

void print_message_json(std::string& out, const MessageType& type, std::string_view bytes) {
  JsonPrinter(out).print(type, bytes);
}

void print_json_lines(std::string& out, const MessageField& field, std::string_view fields) {
  JsonPrinter(out).print_lines(field, fields);
}

}  // namespace gedit
