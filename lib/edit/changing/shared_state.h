// State that is known by a name which is not its node's own, and what a rename makes of it
// (docs/rules.md#rename-what-follows).
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace gedit {

class RenameMapping;

// Whether runs know state by the node's own name.
bool is_state_of_its_name(std::string_view node_def);

struct SharedState {
  // Nodes, as they stand, of which the shared_name is not their own name.
  std::vector<std::string_view> holders;
  // Of these shared_names the ones that are another node's own, or what it is known by.
  std::set<std::string, std::less<>> owned;
};
// The graph need not be decoded.
SharedState shared_state(const Graph& graph);

// Throws Error (kRefused) where state that was told apart would be one, or loops would have one frame. The
// graph is decoded where that has to be looked at.
void check_told_apart(Graph& graph, const SharedState& state, const RenameMapping& mapping);

}  // namespace gedit
