// State that is written and used in no order: what a run gives of it is another every time
// (docs/rules.md#prove-state).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/edges.h"
#include "prove/numbering.h"

namespace gedit {

// The races among the nodes that were numbered of one main graph. Costs nothing where nothing writes, else a
// few walks over the graph for every 64 nodes that do.
class Races {
 public:
  Races(Side& side, ProofState& state, Numbering& numbering);

  // One that the node rests on: of what and why nothing is known.
  struct Race {
    std::string node, why;
  };
  std::optional<Race> of(NodeId node);

 private:
  struct Use {
    NodeId node;
    bool writes;
  };
  struct Found {
    NodeId writer, other;
  };
  using Masks = std::vector<uint64_t>;  // by node: which of 64 nodes

  bool holds_writers();
  void follow_handles();
  void use_handles(NodeId node);
  void find_outermost_loops();
  void find();
  void mark();
  bool apart(NodeId writer, NodeId other);
  Masks spread(const std::vector<NodeId>& from, const Edges& edges, bool around) const;

  uint32_t state_of(uint32_t id);
  void join(uint32_t a, uint32_t b);
  bool is_array(uint32_t state) const { return arrays_[state]; }

  Side& side_;
  ProofState& state_;
  Numbering& numbering_;
  const Graph& graph_;
  Edges consumers_;
  std::vector<uint32_t> order_;            // nodes behind what they read, but for what goes back into a loop
  std::vector<uint32_t> carries_;          // by node: the state that its outputs lead to, 0 for none
  std::vector<uint32_t> joined_;           // by state: another that may be the same
  std::vector<bool> arrays_, references_;  // by state
  std::unordered_map<std::string, uint32_t> gradients_;
  std::vector<std::vector<Use>> uses_;  // by state
  std::vector<uint32_t> loops_;         // by node: its outermost loop, 0 for none
  std::vector<Found> found_;
  std::vector<uint32_t> first_;  // by node: the first of `found_` that it rests on, and one more; 0 for none
  bool too_many_ = false;
};

}  // namespace gedit
