#include "edit/basis/names.h"

#include <atomic>

#include "base/parallel.h"

namespace gedit {

Error not_a_node_name(std::string_view name) {
  const size_t at = invalid_name_at(name);
  const std::string character = at < name.size() ? "'" + printable(name.substr(at, 1)) + "'" : "its end";
  return Error(Cause::kRefused,
               "not a node name (character " + std::to_string(at + 1) + ", " + character + ")")
      .of("'" + printable(name) + "'");
}

bool any_name_begins(const Graph& graph, std::string_view with) {
  std::atomic<bool> any{false};
  in_pieces(graph.size(), [&](size_t, PieceRange nodes) {
    for (uint32_t i = nodes.begin; i < nodes.end && !any; ++i) {
      if (!graph.removed(NodeId{i}) && graph.name(NodeId{i}).starts_with(with)) any = true;
    }
  });
  return any;
}

std::string NewNames::exactly(std::string name, std::string_view hint) {
  if (invalid_name_at(name) != std::string_view::npos) throw not_a_node_name(name);
  if (taken(name)) throw Error(Cause::kRefused, "is taken").of(quoted("node", name)).hint(hint);
  given_.insert(name);
  return name;
}

std::string NewNames::free(std::string_view base) {
  std::string name = free_names_.first(base, [&](const std::string& one) { return taken(one); });
  given_.insert(name);
  return name;
}

}  // namespace gedit
