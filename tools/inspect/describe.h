// What `gedit inspect` tells people: labelled lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/bundle.h"
#include "model/summary.h"

namespace gedit {

constexpr size_t kMostRows = 10;  // outputs, largest tensors, ...

class LabelledText {
 public:
  explicit LabelledText(bool color) : color_(color) {}

  void line(std::string_view label, const std::string& text);
  // Columns as wide as their widest cell, the first row behind the label.
  void table(std::string_view label, const std::vector<std::vector<std::string>>& rows);

  std::string take() { return std::move(out_); }

 private:
  bool color_;
  std::string out_;
};

std::string describe(const GraphSummary& graph, bool color);
// With a table of the scopes of names, `depth` levels deep; 0: none.
std::string describe(const Checkpoint& checkpoint, int depth, bool color);

}  // namespace gedit
