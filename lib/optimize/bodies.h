// The bodies of functions, optimized one by one: what a function takes and returns stays.
#pragma once

#include "model/captured_tensors.h"
#include "optimize/optimize.h"
#include "optimize/subject.h"

namespace gedit::optimizing {

// Whether a body changed. `waited`: functions that go on using their arguments; `captured`: what of them
// keeps its name and value. `result` gains what was done, and what the proof takes as given.
bool optimize_bodies(Library& library, Registry& ops, Labels& labels, Classes& classes,
                     const Effects& effects, Contents& contents, const OptimizeRequest& request,
                     const std::unordered_set<std::string>& waited, const CapturedTensors& captured,
                     OptimizeResult& result);

}  // namespace gedit::optimizing
