// What of a graph trains or saves the model and is none of its ends: gradients, savers, initializers,
// weights.
#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

#include "graph/edges.h"
#include "model/summary_parts.h"

namespace gedit {

class Machinery {
 public:
  explicit Machinery(const SummarizedGraph& of);

  // Save and restore operations, in functions, too, and what names their files.
  bool saves(NodeId id) const { return savers_.has(id); }
  bool initializes(NodeId id) const { return initializers_.contains(index_of(id)); }
  // Whether tf.gradients made it, by the scope in which its nodes stand.
  bool of_gradients(NodeId id) const { return gradients_.has(id); }
  // Whether it is inside of a loop of version 1, where nobody can fetch it.
  bool in_loop(NodeId id) const { return loops_.has(id); }
  // Whether it is made of whether variables have values.
  bool asks_initialized(NodeId id) const { return asks_.has(id); }
  // Whether an optimizer steps a variable: then a gradient that nobody reads is a leftover.
  bool trains() const { return trains_; }
  // Nodes through which tf.gradients went, in file order.
  const std::vector<NodeId>& differentiated() const { return differentiated_; }
  bool is_differentiated(NodeId id) const { return is_differentiated_.has(id); }
  // Whether weights take part in something that is made of it: the inside of a network.
  bool before_weights(NodeId id) const { return before_weights_.has(id); }
  // Whether weights took part in it; true for all of a graph that has none.
  bool behind_weights(NodeId id) const { return behind_weights_.empty() || behind_weights_.has(id); }

 private:
  void find_savers();
  void find_loops();
  void find_initializers();
  void find_differentiated();
  void through_identities();
  void find_weights();
  bool in_network(NodeId id) const;
  NodeSet spread(const NodeSet& from, const Edges& edges) const;

  const SummarizedGraph& of_;
  NodeSet savers_, asks_, loops_, gradients_, is_differentiated_, before_weights_, behind_weights_;
  std::unordered_set<uint32_t> initializers_;
  std::vector<NodeId> differentiated_;
  bool trains_ = false;
};

}  // namespace gedit
