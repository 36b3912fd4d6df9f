// Sizes that were written into the shape of a Reshape, where another shape is to come: found
// (docs/rules.md#set-baked-constants).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/edges.h"
#include "graph/graph.h"
#include "graph/names.h"
#include "shape/infer.h"

namespace gedit {

// An element of a Const, and what it has to be, -1 for whatever follows; nothing where no number does.
struct BakedEntry {
  NodeId constant;
  size_t element;
  int64_t old;
  std::optional<int64_t> now;
  NodeId reader;      // the Reshape
  bool mends = true;  // false: it only makes room for a -1 elsewhere in the same shape
};

// One graph, main or a body, with what was true of it and what is.
struct BakedPlace {
  const Graph& graph;
  const Names& names;
  const Edges& consumers;
  const GraphShapes& before;
  const GraphShapes& now;
};

// Entries of the Consts that give Reshapes their shape, through Pack and ConcatV2 too, which are a size of
// what is reshaped, as it was and no longer is. In the order of the graph.
std::vector<BakedEntry> baked_sizes(const BakedPlace& place);

}  // namespace gedit
