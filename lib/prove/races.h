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

// The races among the nodes that were numbered of one main graph. Costs nothing where nothing writes, else
// for every 64 nodes that do a few walks over what stands between the first and the last that use the same
// state, or over the whole graph where it has loops.
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
  // Nodes that stand behind each other in close_: their places there.
  struct Part {
    uint32_t begin = 0, end = 0;
    bool has(uint32_t place) const { return begin <= place && place < end; }
    uint32_t size() const { return end - begin; }
  };
  using Masks = std::vector<uint64_t>;  // by node of a part: which of 64 nodes
  enum class Way : uint8_t { kConsumers, kProducers };

  bool holds_writers();
  bool goes_back(NodeId from, NodeId to) const;
  void find_order();
  void follow_handles();
  void use_handles(NodeId node);
  void find_outermost_loops();
  void find();
  void mark();
  bool apart(NodeId writer, NodeId other);
  bool is_used_once(const std::vector<Use>& uses) const;
  Part grown(Part part, const std::vector<Use>& uses) const;
  Masks spread(const std::vector<NodeId>& from, Way way, Part part, bool around) const;

  uint32_t state_of(uint32_t id);
  void join(uint32_t a, uint32_t b);
  bool is_array(uint32_t state) const { return arrays_[state]; }

  Side& side_;
  ProofState& state_;
  Numbering& numbering_;
  const Graph& graph_;
  Edges consumers_;
  // Nodes behind what they read, but for what goes back into a loop: level by level, and each close to it.
  std::vector<uint32_t> order_, close_;
  std::vector<uint32_t> places_;           // by node: where it stands in close_
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
