// The loop frames of a graph: which node runs in which (tensorflow/core/graph/control_flow.cc).
#pragma once

#include <string_view>
#include <vector>

#include "graph/edges.h"
#include "graph/graph.h"

namespace gedit {

// Frame 0 is the root: everything outside of loops. An Enter opens a frame, below the one that its input is
// in; an Exit belongs to the frame that it leaves.
struct Frame {
  uint32_t parent = 0;
  std::string_view name;  // frame_name
};

// Whether it is an Enter whose value is there in every iteration.
bool is_constant_enter(std::string_view node_def);

// Nodes that, in a loop, rest on more than what is constant there: they run anew in every iteration, and not
// once it has ended. Others wait for nothing of an iteration. Linear.
NodeSet moving_nodes(const Graph& graph, const Edges& consumers);

class Frames {
 public:
  // Needs nothing of a graph without Enter nodes. O(nodes + edges) otherwise.
  Frames(const Graph& graph, const Edges& producers);
  // The same where somebody looked already whether there are any.
  Frames(const Graph& graph, const Edges& producers, bool loops);

  bool any() const { return frames_.size() > 1; }
  uint32_t of(NodeId id) const { return of_.empty() ? 0 : of_[index_of(id)]; }  // where the node itself runs
  uint32_t of_output(NodeId id) const;  // where its outputs are read: the parent for an Exit
  const Frame& frame(uint32_t number) const { return frames_[number]; }

 private:
  std::vector<Frame> frames_{1};
  std::vector<uint32_t> of_;
  std::vector<bool> exits_;
};

}  // namespace gedit
