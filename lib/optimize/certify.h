// The proof that what was optimized computes what it did (docs/rules.md#optimize-proof).
#pragma once

#include <string>
#include <vector>

#include "optimize/optimize.h"

namespace gedit {

struct Certificate {
  uint64_t proved = 0;
  // Outputs of which nothing can be said, even of the graph against itself: `y: 'rnd' has no seed`.
  std::vector<std::string> unknown;
  std::vector<std::string> failed;  // outputs that are not proved, but are of `before` against itself
};

Certificate certify(Model& before, Model& after, Registry& ops, const OptimizeResult& result);

// An edited model with all that was done to it, of which no step is left that is not proved.
struct Optimized {
  Model model;
  OptimizeResult result;
  bool asked = true;                  // for a proof
  uint64_t proved = 0;                // outputs that are equal
  std::vector<std::string> unknown;   // outputs of which that is not known, and why
  std::vector<std::string> left_out;  // steps, since with them something was not proved
};

// `model` stays as it was read; so does its Registry. Throws Error (kUsage, kRefused): something is not
// proved whatever steps are left out.
Optimized optimize_proved(const Model& model, Registry& ops, const OptimizeRequest& request, bool prove);

}  // namespace gedit
