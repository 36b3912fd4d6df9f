#include "optimize/reroute.h"

#include "base/error.h"
#include "base/number.h"
#include "graph/names.h"
#include "graph/types.h"
#include "select/tensors.h"

namespace gedit::optimizing {

std::string reroute(Model& model, Registry& ops, const std::string& edge) {
  Graph& graph = model.graph();
  graph.decode();
  const size_t equal = edge.find('='), colon = edge.rfind(':', equal);
  const bool parted = equal != std::string::npos && colon != std::string::npos && colon < equal;
  const std::string_view number =
      parted ? std::string_view(edge).substr(colon + 1, equal - colon - 1) : std::string_view();
  const std::optional<size_t> read = read_number<size_t>(number);
  if (!read) throw misused(edge, "is no NODE:K=T").of("option '--reroute'");
  const size_t slot = *read;
  const std::string node = edge.substr(0, colon), tensor = edge.substr(equal + 1);
  const Names names(graph);
  const NodeId reader = names.find(node);
  if (reader == kNoNode) throw refused("no such node").of(quoted("node", node));
  std::vector<std::string> inputs = inputs_of(graph.bytes(reader));
  if (slot >= inputs.size() || inputs[slot].starts_with('^'))
    throw refused("has no input " + std::to_string(slot)).of(quoted("node", node));
  const TensorRef to = find_tensor(model, names, ops, tensor);
  const auto takes = input_types(ops, graph.bytes(reader)), gives = output_types(ops, graph.bytes(to.node));
  if (!takes || slot >= takes->size() || !gives || to.index >= gives->size() ||
      !fits((*gives)[to.index], (*takes)[slot]))
    throw refused("is not of the type that input " + std::to_string(slot) + " of '" + printable(node) +
                  "' has")
        .of(quoted("tensor", tensor));
  inputs[slot] = tensor_text(graph, to);
  graph.replace(reader, with_inputs(graph.bytes(reader), inputs));
  return "input " + std::to_string(slot) + " of '" + printable(node) + "' is '" + printable(inputs[slot]) +
         "'";
}

}  // namespace gedit::optimizing
