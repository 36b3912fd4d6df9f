// Reads of a variable that wait for a node which wrote it: where that goes, because the variable becomes a
// constant, they give another value (docs/rules.md#freeze-writers).
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "edit/functions/handle_flow.h"
#include "graph/names.h"

namespace gedit {

struct LateRead {
  std::string reader, variable, writer;  // nodes as users write them
};

// `reads`: the nodes that are asked about; `written`: the variables that a node writes and that become
// constants. Looks at what a reader waits for by inputs of any kind, through any nodes. Of `function`; empty:
// the main graph.
std::vector<LateRead> late_reads(const Graph& graph, const Names& names, const HandleFlow& flow,
                                 std::string_view function, const std::function<bool(NodeId)>& reads,
                                 const std::function<std::set<std::string>(NodeId)>& written);

}  // namespace gedit
