// What of a main graph has to stay under its name, for whoever uses it: outputs, what signatures name, state,
// init ops and savers, what a user wants to keep (docs/rules.md#optimize-names).
#pragma once

#include <string>
#include <vector>

#include "optimize/optimize.h"
#include "optimize/subject.h"

namespace gedit::optimizing {

// The tensors that are asked for: outputs, else those of signatures, whose inputs stay as well.
struct Wanted {
  std::vector<std::string> outputs, inputs, kept;
  std::vector<std::string> all() const;
};
// Throws Error (kUsage) where there are none.
Wanted wanted_by(const Model& model, const OptimizeRequest& request);

// Fills in what of the graph is asked for, kept and untouched. `reduced`: the graph holds what the wanted
// tensors need, and what its state needs to be initialized and saved.
void protect(Model& model, Registry& ops, const OptimizeRequest& request, const Wanted& wanted,
             Subject& subject);

// Contexts of conds and loops, which describe what is no longer there.
void drop_contexts(MetaGraph& meta);

}  // namespace gedit::optimizing
