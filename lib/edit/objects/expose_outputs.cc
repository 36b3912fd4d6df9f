// Outputs inside functions, for extract and its kin.
#include <algorithm>

#include "base/error.h"
#include "edit/functions/expose.h"
#include "edit/objects/signature_parts.h"
#include "select/tensors.h"

namespace gedit {

std::vector<std::string> expose_outputs(Model& model, Registry& ops, std::vector<std::string> outputs,
                                        const std::vector<std::string>& inputs, Changes& changes) {
  // A signature's key may hold slashes, too.
  const auto is_inner = [&](const std::string& text) {
    return !signature_tensor(model, text) && !split_address(text).function.empty();
  };
  for (const std::string& input : inputs) {
    if (is_inner(parse_typed_tensor(input).name))
      throw Error(Cause::kRefused, "a tensor inside a function cannot be fed").of(quoted("tensor", input));
  }
  if (std::none_of(outputs.begin(), outputs.end(), is_inner)) return outputs;

  Graph& graph = model.graph();
  graph.decode();
  const Names names(graph);
  // Of several calls the one that the other outputs need.
  NodeSet preferred(graph.size());
  for (const std::string& output : outputs) {
    if (!is_inner(output)) preferred.add(find_tensor(model, names, ops, output).node);
  }
  preferred = reach(preferred, producers(graph, names), kAnyDistance);
  Library library = Library::decode(graph.part(graph_field::kLibrary), model.arena);
  ObjectsOfMeta objects(model.meta());
  Exposing exposing(model, ops, library, objects.get());
  for (std::string& output : outputs) {
    if (!is_inner(output)) continue;
    const Exposed exposed = exposing.expose(output, preferred);
    std::string now(graph.name(exposed.call));
    if (exposed.index > 0) now += ":" + std::to_string(exposed.index);
    changes.notes.push_back(printable(output) + " is now " + printable(now));
    output = std::move(now);
  }
  exposing.store();
  graph.set_part(graph_field::kLibrary, library.encode());
  objects.store();
  return outputs;
}

}  // namespace gedit
