// A drawing as text for Graphviz.
#pragma once

#include <span>
#include <string>

#include "draw/drawing.h"

namespace gedit {

struct DotOptions {
  std::string title;
  uint32_t depth = 1;        // scopes are open down to this; 0: all
  size_t most_boxes = 5000;  // throws Error (kRefused) where more would be seen
};

// Open scopes and functions are clusters; the same sheets give the same text.
std::string dot_text(std::span<const Sheet> sheets, const DotOptions& options);

}  // namespace gedit
