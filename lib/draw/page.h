// A graph as one HTML file: its sheets as data, and a program that shows them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/file.h"
#include "draw/sheet.h"

namespace gedit {

struct PageOptions {
  std::string title;
  uint32_t depth = 1;  // scopes are open down to this at first; 0: all, as far as a browser can show them
};

// Everything is in the file: nothing is fetched when it is opened. The same sheets give the same bytes. About
// 10 bytes a node for graphs of a million.
void write_page(std::span<const Sheet> sheets, const PageOptions& options, Sink& out);

}  // namespace gedit
