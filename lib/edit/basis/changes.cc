#include "edit/basis/changes.h"

#include "base/error.h"

namespace gedit {

std::string Changes::text() const {
  std::string lines;
  for (const auto& [name, op] : added) lines += "+ " + printable(name) + " = " + printable(op) + "\n";
  for (const auto& [name, op] : removed) lines += "- " + printable(name) + " = " + printable(op) + "\n";
  for (const auto& [name, what] : changed) lines += "~ " + printable(name) + ": " + printable(what) + "\n";
  return lines;
}

}  // namespace gedit
