// Batch norms folded into the weights before them, in a whole graph (docs/rules.md#optimize-fold-bn).
#pragma once

#include "optimize/optimize.h"
#include "optimize/outside.h"

namespace gedit::optimizing {

// How many were folded. What nobody reads any more stays for whoever reduces the graph.
uint64_t fold_batch_norms(Model& model, Registry& ops, const OptimizeRequest& request, const Wanted& wanted);

}  // namespace gedit::optimizing
