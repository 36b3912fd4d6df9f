#include "edit/new_names.h"

#include "base/error.h"

namespace gedit {

std::string NewNames::exactly(std::string name, std::string_view hint) {
  if (const size_t at = invalid_name_at(name); at != std::string_view::npos) {
    throw Error(Cause::kRefused, "not a node name (character " + std::to_string(at + 1) + ")")
        .of("'" + printable(name) + "'");
  }
  if (taken(name)) throw Error(Cause::kRefused, "is taken").of(quoted("node", name)).hint(hint);
  given_.insert(name);
  return name;
}

std::string NewNames::free(std::string_view base) {
  std::string name(base);
  for (int number = 1; taken(name); ++number) name = std::string(base) + "_" + std::to_string(number);
  given_.insert(name);
  return name;
}

}  // namespace gedit
