// What the wanted tensors need of a graph of nodes alone, found without what extract has to know of state,
// savers, functions and what else lies around a graph.
#pragma once

#include <string>
#include <vector>

#include "graph/index.h"
#include "model/model.h"
#include "ops/registry.h"
#include "optimize/subject.h"

namespace gedit::optimizing {

// Whether there is nothing but nodes, and of these none for which extract keeps more than what reads them
// needs.
bool has_nodes_alone(const Model& model);

// Leaves what the tensors need of a bare graph, as extract does. False, and nothing is done, where extract is
// to tell what is wrong with them. `index` is of the model's graph.
bool leave_needed(Model& model, const GraphIndex& index, Registry& ops,
                  const std::vector<std::string>& tensors);

// Removes from the net of such a graph what the tensors, which are there, do not need. Mostly that is what
// something stands for by now.
void remove_unneeded(Subject& subject, const std::vector<std::string>& tensors);

}  // namespace gedit::optimizing
