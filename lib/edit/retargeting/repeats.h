// What becomes of nodes that are alike, found for the first of them and applied to all others while the graph
// is written: so a million nodes that change take no memory but a number each.
//
//   auto repeats = std::make_shared<Repeats>();
//   repeats->pieces = made_in_pieces(graph.size(), look);  // whoever looks at nodes
//   repeats->count();
//   Repeats::apply(repeats, graph);
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/parallel.h"
#include "graph/graph.h"

namespace gedit {

bool has_output_shapes(std::string_view node_def);  // `_output_shapes`
std::string without_output_shapes(std::string_view node_def);

// What became of a node by its op and attributes alone.
struct Became {
  bool changed = false;
  std::string op, attrs;  // in place of its own: the field of the op, empty for the same; all attributes
  std::vector<uint64_t*> counts;  // of a tally: those that it raised
};

// Nodes of one op whose fields ascend, with the same attributes and number of data inputs; or one node.
struct AlikeNodes {
  bool stay = false;                       // none of them is in need of anything
  uint32_t attrs = 0;                      // bytes of their attributes, with which they end
  NodeId looked_at = kNoNode;              // the first of them that was
  uint64_t times = 0;                      // that what became of it became of another
  std::shared_ptr<const Became> became{};  // null: each has to be looked at
  struct Shapes {
    uint32_t to_end = 0, size = 0;  // bytes of `_output_shapes`, and from where they stand to the end
    bool several = false;
  } shapes{};

  bool changes() const { return became != nullptr && became->changed; }
};
AlikeNodes::Shapes shapes_in(std::string_view node_def);

class Repeats final : public Mapping {
 public:
  // The nodes of one piece of the graph, of kPerPiece.
  class Piece {
   public:
    static constexpr uint32_t kNone = UINT32_MAX;
    std::vector<AlikeNodes> groups;

    void put(size_t place, uint32_t group) {
      if (group_of_.empty()) group_of_.resize(kPerPiece, kNone);
      group_of_[place] = group;
    }
    // Its group's number, kNone where it is as it lies in the graph.
    uint32_t at(size_t place) const { return group_of_.empty() ? kNone : group_of_[place]; }
    bool empty() const { return group_of_.empty(); }

   private:
    std::vector<uint32_t> group_of_;  // by place in the piece, empty: all kNone
  };

  std::vector<Piece> pieces;
  // Nodes with `_output_shapes` that were looked at each by itself.
  std::vector<NodeId> alone;

  // Raises the counts of what became of nodes as often as it did.
  void count() const;
  // All that are left lose `_output_shapes`, some of them in the graph, at once; how many there were.
  uint64_t drop_output_shapes(Graph& graph);
  // The graph, of which no node is appended or replaced any more, is written so.
  static void apply(std::shared_ptr<const Repeats> repeats, Graph& graph);

  void node(std::string_view name, std::string& out) const override { out += name; }
  const Prefixing* prefixing(NodeId id) const override {
    return changed(id) == nullptr ? &as_it_is_ : nullptr;
  }
  NodeParts rewritten(NodeId id, std::string_view node_def) const override;

 private:
  // The group of a node that is not written as it lies in the graph; null for all others.
  const AlikeNodes* changed(NodeId id) const;

  Prefixing as_it_is_;
  bool unshaped_ = false;
};

}  // namespace gedit
