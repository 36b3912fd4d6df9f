// What a loop asks before its first iteration, computed from what enters it.
#pragma once

#include "optimize/rules.h"

namespace gedit::optimizing {

// Whether the loop of a LoopCond, or of a While, is known never to be gone around: its condition is computed
// from constants alone, and false (docs/rules.md#optimize-passes).
bool ends_at_once(const View& view, Number n);

}  // namespace gedit::optimizing
