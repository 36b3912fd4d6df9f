// Which nodes of a graph are alike: of one op, with the same attributes, as many inputs. What types and
// shapes follow from is then found once for all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace gedit {

// What nodes of one number have in common, beside op and attributes.
struct LikeKind {
  uint32_t data_inputs = 0;
  // In a main graph: they come first, and each is output 0 of what it names, so that where all are there
  // input k is output 0 of producer k.
  bool first_outputs = false;
  bool colocated = false;  // has `_class`
  bool placed = false;     // may have a device
  bool exact = true;       // attributes are the same byte for byte: there was nothing that does not count
};

// A number for each node; nodes of one number are alike. Two things do not count, since nothing but
// themselves depends on them: whom `_class` names, and the content of a Const that is not of integers (its
// length does). Two bytes a node, and one look at each on all cores. The graph outlives it and stays as it
// is.
class LikeNodes {
 public:
  // Of nodes of which nothing is known: long attributes, or kinds past the first 16,383.
  static constexpr uint16_t kNone = 0;

  explicit LikeNodes(const Graph& graph);

  uint16_t of(NodeId id) const { return numbers_[index_of(id)]; }
  const LikeKind& kind(uint16_t number) const { return kinds_[number]; }
  size_t size() const { return kinds_.size(); }  // numbers are below it

 private:
  std::vector<uint16_t> numbers_;
  std::vector<LikeKind> kinds_;
};

}  // namespace gedit
