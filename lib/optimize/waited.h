// Which functions get what a caller has written before: Grappler, in every session by default, inlines calls
// and leaves out arguments that nothing uses, and with them what stands behind them
// (docs/rules.md#optimize-controls).
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include "graph/library.h"
#include "optimize/flow.h"

namespace gedit::optimizing {

// Those that a call in the main graph or in a body gives something behind a write, and all that these call.
// Linear in the graphs in which anything writes.
std::unordered_set<std::string> called_behind_writes(const Graph& graph, const Library& library,
                                                     const Effects& effects, Labels& labels);

// Arguments that a node of the body reads or waits for, or that are returned.
std::unordered_set<std::string> used_arguments(const Graph& body);

}  // namespace gedit::optimizing
