// The transforms of --transforms, one after the other, by passes and node by node.
#pragma once

#include "optimize/optimize.h"

namespace gedit::optimizing {

// As optimize(); a pass that `request` does not have is left out.
OptimizeResult run_transforms(Model& model, Model& before, Registry& ops, const OptimizeRequest& request);

}  // namespace gedit::optimizing
