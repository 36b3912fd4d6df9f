// Two nodes compared as TensorFlow would see them, and two lists of nodes matched by name.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "diff/diff.h"
#include "graph/graph.h"
#include "graph/mapping.h"
#include "graph/names.h"
#include "ops/registry.h"

namespace gedit {

class NodeComparison {
 public:
  NodeComparison(Registry& before, Registry& after) : before_(before), after_(after) {}

  // What differs, in words; nothing where it is the same node. `body`: the nodes are of functions.
  std::vector<std::string> differences(std::string_view before, std::string_view after, bool body);

 private:
  // Attributes of ops that are known differ from their default where they are given.
  const OpDef* definition(Registry& ops, std::string_view op,
                          std::unordered_map<std::string_view, OpDef>& known);

  Registry& before_;
  Registry& after_;
  std::unordered_map<std::string_view, OpDef> ops_before_, ops_after_;
};

// Whether two AttrValues say the same: the same bytes, or the same line of a listing.
bool same_value(std::string_view before, std::string_view after);
std::string value_text(std::string_view attr_value);

// Nodes of one name stand side by side; of several with one name the first with the first.
struct Matched {
  std::vector<NodeId> partner;  // for each node of `before`: its node in `after`, or kNoNode
  std::vector<NodeId> added;    // nodes of `after` without one
};
Matched match_nodes(const Graph& before, const Graph& after, const Names& names_after);

}  // namespace gedit
