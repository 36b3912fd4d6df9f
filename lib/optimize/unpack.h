// Splits whose pieces are all squeezed are Unpacks (docs/rules.md#optimize-algebra).
#pragma once

#include "optimize/subject.h"

namespace gedit::optimizing {

// Each Split along a known axis of which nothing is read but by Squeezes of that axis alone becomes an Unpack
// of its name, which gives what these gave. It keeps its name and none of its values, so that nothing is to
// be told of the graph any more once this was done. For graphs in which nothing writes.
void unpack_splits(Subject& subject);

}  // namespace gedit::optimizing
