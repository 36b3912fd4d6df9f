// gedit extract: the part of a graph that some tensors need, and no more.
#include "edit/edits.h"

#include "edit/around/reduction.h"
#include "edit/basis/cut.h"
#include "edit/functions/expose.h"

namespace gedit {

Changes extract(Model& model, Registry& ops, const ExtractRequest& request) {
  model.graph().decode();
  if (request.outputs.empty()) throw Error(Cause::kUsage, "what is to be kept?").hint("--outputs T,..");
  Changes changes;
  changes.list_removed = request.want_changes;
  const std::vector<std::string> outputs =
      expose_outputs(model, ops, request.outputs, request.inputs, changes);
  Facts facts(model, ops);
  Cut cut(facts, outputs, request.inputs);
  Closure::Follow follow;
  if (!request.inputs.empty()) {
    follow = [&](NodeId, const TensorRef& tensor) {
      return cut.stops(tensor) ? std::nullopt : std::optional(tensor);
    };
  }
  Closure closure(facts, follow);
  for (const TensorRef& output : cut.outputs()) closure.want(output.node);
  Reduction reduction(facts, closure);
  if (request.graph_alone) reduction.keep_graph_alone();
  reduction.complete();
  cut.apply(closure, changes);
  reduction.apply(changes);
  return changes;
}

}  // namespace gedit
