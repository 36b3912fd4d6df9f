// Constants that hold a size which a tensor no longer has: the ones that gedit set --shape warns of.
#pragma once

#include <string>
#include <vector>

#include "graph/edges.h"
#include "graph/graph.h"
#include "graph/names.h"
#include "graph/types.h"
#include "ops/registry.h"

namespace gedit {

// Numbers of an int32 or int64 Const of at most one dimension and 64 elements; none for any other node.
struct ConstSizes {
  std::vector<int64_t> numbers;
  bool vector = false;  // of one dimension
};
ConstSizes const_sizes(std::string_view node_def);

// A constant and the first dimension whose old size is in it.
struct OldSize {
  NodeId constant;
  int64_t size;
  size_t dimension;
};

// The integer Consts that nodes downstream of `node` take as a shape or as a part of one (Reshape, Fill,
// resize and gradient ops), where they hold a size of `before` that `now` does not have there. Each constant
// once, in the order of the graph.
std::vector<OldSize> old_sizes(const Graph& graph, const Names& names, const Edges& consumers, Registry& ops,
                               NodeId node, const Shape& before, const Shape& now);
// The same of what `readers` take.
std::vector<OldSize> old_sizes_of(const Graph& graph, const Names& names, const NodeSet& readers,
                                  Registry& ops, const Shape& before, const Shape& now);
// Whether all that read the constant take it as a shape or as a part of one.
bool only_a_size(const Graph& graph, const Names& names, const Edges& consumers, Registry& ops,
                 NodeId constant);

}  // namespace gedit
