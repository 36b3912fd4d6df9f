#include "edit/basis/addresses.h"

#include "base/error.h"
#include "base/near.h"

namespace gedit {

Function& find_function(Library& library, std::string_view name) {
  if (Function* function = library.find(name)) return *function;
  Near near(name);
  for (const Function& one : library.functions) near.offer(one.name);
  throw Error(Cause::kRefused, "no such function").of(quoted("function", name)).hint(near.did_you_mean());
}

size_t drop_output_shapes(Graph& graph, const Edges& consumers, const NodeSet& nodes) {
  if (nodes.empty()) return 0;
  size_t dropped = 0;
  for (const NodeId id : reach(nodes, consumers, kAnyDistance).nodes()) {
    if (!find_attr(graph.bytes(id), "_output_shapes")) continue;
    graph.replace(id, without_attr(graph.bytes(id), "_output_shapes"));
    ++dropped;
  }
  return dropped;
}

}  // namespace gedit
