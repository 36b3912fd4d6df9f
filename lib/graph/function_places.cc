#include "graph/function_places.h"

#include "base/error.h"
#include "graph/library.h"

namespace gedit {

std::string place_in_functions(std::string_view library, Arena& arena, std::string_view name) {
  std::string_view first;
  size_t others = 0;
  each_body_node(library, arena, [&](std::string_view function, std::string_view node_def) {
    if (node_name(node_def) != name) return;
    if (first.empty()) {
      first = function;
    } else {
      ++others;
    }
  });
  if (first.empty()) return "";
  return (others == 0 ? "in a function: '" : "in " + std::to_string(others + 1) + " functions, as '") +
         printable(first) + "//" + printable(name) + "'";
}

}  // namespace gedit
