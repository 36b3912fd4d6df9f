#include "optimize/norms.h"

#include <unordered_set>

#include "edit/around/map.h"
#include "edit/basis/names.h"
#include "fold/batch_norm.h"
#include "graph/edges.h"
#include "select/tensors.h"

namespace gedit::optimizing {

uint64_t fold_batch_norms(Model& model, Registry& ops, const OptimizeRequest& request, const Wanted& wanted) {
  Graph& graph = model.graph();
  const Names names(graph);
  NodeSet kept(graph.size());
  for (const std::string& text : wanted.all()) kept.add(find_tensor(model, names, ops, text, true).node);
  for (const NodeId id : nodes_to_keep(model, ops, request)) kept.add(id);
  if (!request.graph_alone) {
    each_name_around(model.meta(), [&](const SchemaField&, std::string_view name, int) {
      if (const NodeId id = names.find(parse_input(name).node); id != kNoNode) kept.add(id);
    });
  }
  NewNames new_names(names);
  const Edges consumers = reversed(producers(graph, names));
  const folding::NormSubject subject{graph, names, consumers, [&](NodeId id) { return kept.has(id); },
                                     [&](std::string_view base) { return new_names.free(base); }};
  const std::vector<folding::FoldedNorm> norms = folding::find_batch_norms(subject);
  for (const folding::FoldedNorm& norm : norms) {
    for (const auto& [id, node_def] : norm.replaced) graph.replace(id, node_def);
    for (const std::string& node_def : norm.added) graph.append(node_def);
  }
  return norms.size();
}

}  // namespace gedit::optimizing
