#include "cli/text.h"

#include <fmt/core.h>

#include <algorithm>

namespace gedit {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

std::string padded(std::string_view text, size_t width) {
  // Of letters beyond ASCII some are two columns wide.
  if (!std::ranges::all_of(text, [](char c) { return c >= 0 && c < 0x7f; }))
    return fmt::format("{:<{}}", text, width);
  std::string out(text);
  out.append(width > text.size() ? width - text.size() : 0, ' ');
  return out;
}

std::string type_text(const std::optional<DType>& dtype, const Shape& shape) {
  return (dtype ? dtype_name(*dtype) : std::string("?")) + shape_text(shape);
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n';
    if (!blank) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

std::string trimmed(std::string_view text) {
  while (text.starts_with('\n')) text.remove_prefix(1);
  while (text.ends_with('\n')) text.remove_suffix(1);
  return std::string(text);
}

std::string paragraphs(std::string_view text) {
  std::string joined;
  bool open = false;  // a paragraph goes on
  for (const std::string_view line : lines_of(text)) {
    const bool prose = !line.empty() && line[0] != ' ';
    if (!joined.empty()) joined += open && prose ? ' ' : '\n';
    joined += line;
    open = prose;
  }
  return trimmed(joined);
}

}  // namespace gedit
