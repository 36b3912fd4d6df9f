#include "draw/describe.h"

#include "base/error.h"
#include "base/size.h"
#include "graph/listing.h"
#include "graph/node.h"

namespace gedit {
namespace {

constexpr size_t kLongestValue = 40;
constexpr size_t kMostDescribed = 4096;  // bytes of an AttrValue; weights are not read

// Whether the content of a TensorProto is so much that its text is longer than kLongestValue however it is
// written: as base64 of 24 bytes, or as 15 numbers with commas between.
bool is_long(std::string_view tensor) {
  const size_t bytes = last_bytes(tensor, 4).size();
  return bytes >= 24 && bytes >= 15 * dtype_width(static_cast<DType>(last_varint(tensor, 1)));
}

// What print_tensor() writes behind the type and shape: `tensor(DT_INT32 [2], 1, -1)` -> `1, -1`.
std::string const_text(std::string_view node_def) {
  const auto value = find_attr(node_def, "value");
  if (!value || value->size() > kMostDescribed) return {};
  const std::string_view tensor = last_bytes(*value, attr_field::kTensor);
  if (is_long(tensor)) return {};
  std::string text;
  print_tensor(text, tensor, false);
  size_t begin = text.find("], ");
  if (begin == std::string::npos || text.back() != ')') return {};
  begin += 3;
  text = text.substr(begin, text.size() - begin - 1);
  if (text.starts_with("content(")) text = text.substr(8, text.size() - 9);
  return text.size() > kLongestValue || text.starts_with('<') ? std::string() : text;
}

}  // namespace

std::string shortened(std::string_view text, size_t longest) {
  if (text.size() <= longest) return std::string(text);
  const auto begins_character = [&](size_t i) {
    return (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
  };
  size_t head = longest / 2, tail = text.size() - longest / 2;
  while (head > 0 && !begins_character(head)) --head;
  while (tail < text.size() && !begins_character(tail)) ++tail;
  return std::string(text.substr(0, head)) + "..." + std::string(text.substr(tail));
}

std::string escaped_markup(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string line_text(const Sheet& sheet, const Drawing::Line& line) {
  if (line.tensors == 0) return {};
  if (line.tensors == 1) return sheet.types[line.type];
  const std::string count = std::to_string(line.tensors);
  return line.type == 0 ? count + " tensors" : count + " \u00d7 " + sheet.types[line.type];
}

std::string constant_text(const Sheet& sheet, uint32_t item) {
  const Item& constant = sheet.items[item];
  std::string text(constant.self ? sheet.items[constant.parent].name : constant.name);
  if (constant.type != 0) text += " " + sheet.types[constant.type];
  const std::string value = const_text(constant.bytes);
  return value.empty() ? text : text + " = " + value;
}

std::string attributes_text(std::string_view node_def) {
  std::string text;
  each_attr(node_def, [&](std::string_view key, std::string_view value) {
    if (key == "_output_shapes") return;
    if (!text.empty()) text += '\n';
    text += printable(key) + ": ";
    if (value.size() > kMostDescribed) {
      text += size_text(value.size());
    } else {
      print_attr_value(text, value, false);
    }
  });
  return text;
}

}  // namespace gedit
