// Who reads whom: inputs resolved to nodes, and their reverse. Values that are built, used and dropped.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace gedit {

class Names;

// For each node a list of nodes. Four bytes an edge and a node, and a bit.
class Edges {
 public:
  std::span<const NodeId> of(NodeId id) const {
    const uint32_t i = index_of(id);
    return {targets_.data() + begins_[i], targets_.data() + begins_[i + 1]};
  }

  // How many there are in all, and how many are of nodes in front of this one.
  size_t count() const { return targets_.size(); }
  size_t count_before(NodeId id) const { return begins_[index_of(id)]; }

  // Of producers(): whether every input of every node has a node, so that input k of a node is of(node)[k].
  bool complete() const { return complete_; }
  // Of producers(): whether every input of the node is a node's name alone, and so that node's output 0.
  bool first_outputs(NodeId id) const {
    return (first_outputs_[index_of(id) / 64] >> (index_of(id) % 64) & 1) != 0;
  }
  // Of producers(): most lead to what stands before the node. Of the reverse: behind it.
  bool lead_back() const { return lead_back_; }

 private:
  friend Edges producers(const Graph& graph, const Names& names);
  friend Edges reversed(const Edges& edges);
  std::vector<uint32_t> begins_;
  std::vector<NodeId> targets_;
  std::vector<uint64_t> first_outputs_;  // a bit for each node
  bool complete_ = false, lead_back_ = true;
};

// The nodes that each node reads, data and control inputs in their order. Inputs without a node (and
// arguments of a function) are left out. Most inputs name a node close by: about 25 ns an input.
Edges producers(const Graph& graph, const Names& names);
Edges reversed(const Edges& edges);

// A set of nodes of one graph.
class NodeSet {
 public:
  NodeSet() = default;
  explicit NodeSet(uint32_t size) : size_(size), words_((size_t{size} + 63) / 64) {}
  static NodeSet all(uint32_t size) {
    NodeSet set(size);
    set.words_.assign(set.words_.size(), ~uint64_t{0});
    if (size % 64 != 0) set.words_.back() >>= 64 - size % 64;
    set.count_ = size;
    return set;
  }
  bool has(NodeId id) const { return index_of(id) < size_ && (words_[index_of(id) / 64] & bit(id)) != 0; }
  bool add(NodeId id) {  // whether it was not there
    uint64_t& word = words_[index_of(id) / 64];
    const bool fresh = (word & bit(id)) == 0;
    word |= bit(id);
    count_ += fresh ? 1 : 0;
    return fresh;
  }
  void remove(NodeId id) {
    count_ -= has(id) ? 1 : 0;
    words_[index_of(id) / 64] &= ~bit(id);
  }
  uint32_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  uint32_t size() const { return size_; }
  std::vector<NodeId> nodes() const;  // in file order

  // Adds everything that is reached from what is in it: `each_from(id, go)` calls go(other) for each node to
  // which `id` leads. What lies before its node, or behind it where not `back`, is found by one pass in the
  // order of memory, as nearly all is; the rest is followed at once.
  template <typename EachFrom>
  void spread(bool back, EachFrom each_from);

 private:
  static uint64_t bit(NodeId id) { return uint64_t{1} << (index_of(id) % 64); }

  uint32_t size_ = 0, count_ = 0;
  std::vector<uint64_t> words_;
};

template <typename EachFrom>
void NodeSet::spread(bool back, EachFrom each_from) {
  uint32_t at = 0;
  std::vector<NodeId> open;  // where the pass has been
  const auto go = [&](NodeId id) {
    if (add(id) && (index_of(id) > at) == back) open.push_back(id);
  };
  for (size_t step = 0; step < words_.size(); ++step) {
    const size_t k = back ? words_.size() - 1 - step : step;
    uint64_t ahead = ~uint64_t{0};  // of this word
    while (const uint64_t rest = words_[k] & ahead) {
      const int i = back ? 63 - std::countl_zero(rest) : std::countr_zero(rest);
      const uint64_t below = (uint64_t{1} << i) - 1;
      ahead = back ? below : ~(below << 1 | 1);
      at = static_cast<uint32_t>(k * 64) + static_cast<uint32_t>(i);
      each_from(NodeId{at}, go);
      while (!open.empty()) {
        const NodeId id = open.back();
        open.pop_back();
        each_from(id, go);
      }
    }
  }
}

// Everything within `steps` of `set` along `edges`, `set` included.
NodeSet reach(const NodeSet& set, const Edges& edges, uint32_t steps);
constexpr uint32_t kAnyDistance = 0xffffffff;

// What one node reaches, asked of many nodes of a large graph: each costs what it reaches.
class Reacher {
 public:
  // `edges` outlives it.
  Reacher(const Edges& edges, uint32_t size) : edges_(edges), seen_(size) {}
  // The node itself first; valid up to the next call.
  const std::vector<NodeId>& from(NodeId id);

 private:
  const Edges& edges_;
  std::vector<bool> seen_;  // of what stands in reached_
  std::vector<NodeId> reached_;
};

}  // namespace gedit
