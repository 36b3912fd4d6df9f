// What tells two graphs apart, the main ones or the bodies of one function, node by node.
#pragma once

#include <string>

#include "diff/diff.h"
#include "diff/nodes.h"
#include "diff/scopes.h"
#include "graph/graph.h"

namespace gedit {

// Adds to `diff` what has other names, is there on one side alone, or differs. `place` stands before names of
// nodes: empty, or `FUNCTION//`. `names` has what the second graph is known to call otherwise, and gains what
// is found. The graphs are decoded.
void diff_graphs(const std::string& place, const Graph& before, const Graph& after, RenamedScopes& names,
                 NodeComparison& comparison, Diff& diff);

}  // namespace gedit
