// A value of a checkpoint that stands there once more, as the value of a copied variable or table.
#pragma once

#include <string>

namespace gedit {

// The object of a value once more: the same attribute under another key, in an object at that key's path.
struct CopiedValue {
  std::string key, copy_key;
  std::string full_name;  // the variable's name in the graph; a table has none
};

}  // namespace gedit
