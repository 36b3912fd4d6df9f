#include "inspect/describe.h"

#include <algorithm>

#include "cli/text.h"

namespace gedit {

void LabelledText::line(std::string_view label, const std::string& text) {
  const std::string wide = padded(label, 11);
  out_ += "  " + (color_ && !label.empty() ? "\033[1m" + wide + "\033[0m" : wide) + " " + text;
  while (out_.ends_with(' ')) out_.pop_back();
  out_ += '\n';
}

void LabelledText::table(std::string_view label, const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string text;
    for (size_t i = 0; i < row.size(); ++i)
      text += i + 1 < row.size() ? padded(row[i], widths[i]) + "  " : row[i];
    line(label, text);
    label = "";
  }
  if (rows.empty()) line(label, "none");
}

}  // namespace gedit
