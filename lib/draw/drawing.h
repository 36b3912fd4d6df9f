// What of a sheet is seen with its scopes open down to some depth: boxes in boxes, and lines between them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "draw/sheet.h"

namespace gedit {

// A box that is read by more than this many others, and a scope or NoOp that reads more, is named at each of
// them instead of being joined to them by a line.
constexpr size_t kMostLines = 12;

struct Drawing {
  struct Box {
    uint32_t item;
    uint32_t around;               // position of the open scope that it lies in; kNoItem: in none
    bool open;                     // a scope whose boxes follow
    std::vector<uint32_t> rows{};  // items: the constants that sit in it, each once
  };
  struct Line {
    uint32_t from, to;  // positions of boxes; none of them is open
    uint32_t tensors;   // how many different ones; 0: control only
    uint32_t type;      // of all of them, index into Sheet::types; 0: they differ, or nothing is known
    bool next = false;  // from one block to another of those that are folded: from its end to its beginning
    bool stub = false;  // no line: `from` is named at `to`
    bool sink = false;  // then: `to` is named at `from` instead
  };
  std::vector<Box> boxes;  // a scope before its boxes
  std::vector<Line> lines;

  uint32_t closed_or_node() const;  // how many boxes are not open
};

// Scopes are open down to `depth`, 0: all. Linear.
Drawing draw(const Sheet& sheet, uint32_t depth);

// How a box is called within the open scope around it: `conv1/weights`, `block_1 .. block_12`.
std::string box_label(const Sheet& sheet, const Drawing& drawing, const Drawing::Box& box);

}  // namespace gedit
