// The proof that what was optimized computes what it did (docs/rules.md#optimize-proof).
#pragma once

#include <string>
#include <vector>

#include "optimize/optimize.h"

namespace gedit {

struct Certificate {
  uint64_t proved = 0, tensors = 0;
  // Outputs of which nothing can be said, even of the graph against itself: `y: 'rnd' has no seed`.
  std::vector<std::string> unknown;
};

// Throws Error (kRefused) where an output is not proved that is proved of `before` against itself.
Certificate certify(Model& before, Model& after, Registry& ops, const OptimizeResult& result);

}  // namespace gedit
