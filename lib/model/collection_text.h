// The items of a MetaGraphDef's collections, one a line of a listing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "graph/scanner.h"

namespace gedit {

// Calls `line` with each item of a CollectionDef: `node train`, `int 7`, `VariableDef { ... }`; with `node`
// alone for an empty list, `unset` for no list. False, with some lines called perhaps, where the message
// holds more than that: unknown fields, two kinds.
bool print_collection(std::string_view key, std::string_view collection,
                      const std::function<void(std::string_view)>& line);

// A collection while its lines are read.
struct CollectionItems {
  uint32_t kind = 0;  // the field of CollectionDef; 0: unset
  std::string list;   // the content of that field

  // Reads one item. Throws the scanner's Error, also where the item is not of the kind of those before.
  void parse(Scanner& scanner);
  std::string collection() const;  // the serialized CollectionDef

 private:
  bool read_ = false;
  std::string packed_;
};

}  // namespace gedit
