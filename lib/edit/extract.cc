// gedit extract: the part of a graph that some tensors need, and no more.
#include "edit/edits.h"

#include "base/error.h"
#include "edit/around/reduction.h"
#include "edit/basis/cut.h"
#include "edit/basis/unfilled.h"
#include "edit/changing/wanted_tensors.h"
#include "edit/functions/expose.h"

namespace gedit {

Changes extract(Model& model, Registry& ops, const ExtractRequest& request) {
  model.graph().decode();
  WantedTensors wanted = wanted_tensors(model, request.outputs, request.inputs, request.signature);
  Changes changes;
  changes.list_removed = request.want_changes;
  const std::vector<std::string> outputs = expose_outputs(model, ops, wanted.outputs, wanted.inputs, changes);
  // An output in a function changed the graph.
  Facts facts(model, ops, outputs == wanted.outputs ? request.index : nullptr);
  const std::vector<NodeId> fed = cut_at_signature(facts, wanted);
  Cut cut(facts, outputs, wanted.inputs);
  Closure::Follow follow;
  if (!wanted.inputs.empty()) {
    follow = [&](NodeId, const TensorRef& tensor) {
      return cut.stops(tensor) ? std::nullopt : std::optional(tensor);
    };
  }
  Closure closure(facts, follow);
  for (const TensorRef& output : cut.outputs()) closure.want(output.node);
  for (const NodeId input : fed) closure.want(input);
  for (const std::string& kept : request.kept) {
    if (const NodeId id = facts.names().find(kept); id != kNoNode) closure.want(id);
  }
  Reduction reduction(facts, closure);
  if (request.graph_alone) reduction.keep_graph_alone();
  if (request.fill_tables) reduction.fill_tables();
  reduction.complete();
  const auto stays = [&](NodeId id) { return closure.nodes().has(id); };
  for (const Unfilled& holder : unfilled(facts, closure.found(), stays)) {
    changes.warnings.push_back("nothing fills " + holder.what() + " any more: what reads it " +
                               std::string(holder.outcome) + "; hint: --inputs, or --outputs '" +
                               printable(holder.filler) + "', too");
  }
  cut.apply(closure, changes);
  reduction.apply(changes);
  return changes;
}

}  // namespace gedit
