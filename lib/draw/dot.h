// A drawing as text for Graphviz.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "draw/drawing.h"

namespace gedit {

struct DotOptions {
  std::string title;
  uint32_t depth = 1;        // scopes are open down to this; 0: all
  size_t most_boxes = 5000;  // throws Error (kRefused) where more would be seen
};

// The sheets that a picture begins with, which is read from left to right: those of functions that a
// signature calls, the first of them first, then the main graph. Of a model without them all.
std::vector<const Sheet*> first_sheets(std::span<const Sheet> sheets);

// The least depth at which there is something to see: a few boxes, or all that there are.
uint32_t fitting_depth(std::span<const Sheet* const> sheets);

// Open scopes and functions are clusters; the same sheets give the same text.
std::string dot_text(std::span<const Sheet* const> sheets, const DotOptions& options);

}  // namespace gedit
