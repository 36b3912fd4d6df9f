// Cycles and loop frames.
#pragma once

#include "check/checked_graph.h"

namespace gedit {

// Rule cycle: what cannot be put in order. A Merge that reads a NextIteration waits for one input alone.
void check_cycles(const CheckedGraph& in, const NodeSet* only, Report& report);

// Rule frame. Nothing in a graph without Enter nodes.
void check_frames(const CheckedGraph& in, const NodeSet* only, Report& report);

}  // namespace gedit
