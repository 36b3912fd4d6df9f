// What follows from the shape of a graph alone: an order, who reads whom, which predicates are known, what
// never runs, behind what there is an effect (docs/tensorflow.md#dead-tensors).
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/blank.h"
#include "base/shared_bits.h"
#include "graph/library.h"
#include "optimize/net.h"

namespace gedit::optimizing {

// Kinds of nodes that only look at what passes, and are dropped where that is asked for.
struct Droppable {
  bool identities = false, checks = false, prints = false, summaries = false;
};
bool is_dropped(const Droppable& drops, What what);

// Whether a node does something besides giving its outputs, itself or in a function that it calls. What is to
// be dropped has no effect that counts.
class Effects {
 public:
  Effects(const Library& library, Labels& labels, Droppable drops);

  // Whether no node can have one, told by the ops that are there.
  bool none_in(const Net& net) const;
  bool of(const Net& net, Number n) const;
  // It writes: the order of all others counts, too.
  bool writes(const Net& net, Number n) const;
  bool writes(std::string_view node_def, Labels& labels) const;
  // Of a function of the library, itself or one that it calls.
  bool of_function(std::string_view name) const { return effective_.contains(name); }

 private:
  bool own(const ProofOp& op, What what) const;
  static bool own_write(const ProofOp& op);
  bool writes(std::string_view node_def, const ProofOp& op, What what) const;
  bool calls(std::string_view node_def, const ProofOp& op,
             const std::unordered_set<std::string_view>& functions) const;

  Droppable drops_;
  std::unordered_set<std::string_view> functions_, effective_, writing_;
};

class Flow {
 public:
  // `asked`: the nodes of which anything counts; `needed`: all that these need; `apart`: those of them that
  // run when nothing else does, as what initializes and restores, so that what they write comes before or
  // behind all that reads it. Costs the graph once, and where there are loops as much again for what is dead
  // and for effects. Throws Error (kRefused) for a cycle that is no loop.
  Flow(const Net& net, const Effects& effects, const std::vector<Number>& asked, NodeSet needed,
       const NodeSet& apart);
  Flow(const Net& net, const Effects& effects, const std::vector<Number>& asked, const NodeSet& apart)
      : Flow(net, effects, asked, net.needed_by(asked), apart) {}

  // Every node behind what it reads, but for what goes back into a loop.
  const BlankVector<Number>& order() const { return order_; }
  // Nodes that what is asked for needs.
  bool needed(Number n) const { return needed_.has(NodeId{n}); }
  // Of a scalar bool.
  std::optional<bool> truth(In in) const;
  // Never there, whatever is fed.
  bool dead(In in) const;
  bool dead(Number n) const { return !all_alive_ && n < states_.size() && !states_[n].alive; }
  // It, or something that it needs, has an effect.
  bool effect(Number n) const { return n < states_.size() && states_[n].effect; }
  bool own_effect(Number n) const { return n < states_.size() && states_[n].own_effect; }
  // It, or something that it needs, has an effect and runs for dead inputs of Merges alone: without these it
  // would not run.
  bool effect_for_dead(Number n) const { return n < states_.size() && states_[n].effect_for_dead; }
  // One input of what is needed reads it, and no more.
  bool read_once(Number n) const {
    asked_readers_ = true;
    return read_.has(n) && !read_again_.has(n);
  }
  bool asked_readers() const { return asked_readers_; }
  // Somebody reads which input a Merge gave.
  bool reads_second(Number merge) const { return merge < states_.size() && states_[merge].second; }
  // Something that is needed, and not apart, writes, so that it counts what runs before what.
  bool ordered() const { return ordered_; }
  // Everything runs once and always.
  bool always() const { return !any_branch_ && !any_dead_; }
  // In whatever order, too, and does nothing but give its outputs.
  bool plain() const { return always() && !any_effect_; }

 private:
  struct Edge {
    Number reader;
    uint32_t slot;  // which of its inputs
  };
  // Who reads a node, with which inputs.
  struct Edges {
    std::vector<uint32_t> first;  // by node: where its own begin
    std::vector<Edge> all;
    std::span<const Edge> of(Number n) const { return {all.data() + first[n], all.data() + first[n + 1]}; }
  };

  struct State {
    bool alive = false, effect = false, own_effect = false, effect_for_dead = false, second = false;
    int8_t truth = -1;  // of output 0; -1: not known
  };

  bool pass_all();
  void count_reader(Number n) {
    if (!read_.set(n)) read_again_.set(n);
  }
  void find_order();
  void pass(Number n);
  int8_t truth_of(Number n) const;
  bool alive_by_inputs(Number n) const;
  void find_effects(const Effects& effects, const NodeSet& apart);
  Edges edges() const;
  void find_alive_around(const Edges& edges);
  void find_effects_around(const Edges& edges);
  void find_effects_for_dead(const std::vector<Number>& asked);

  const Net& net_;
  BlankVector<Number> order_;
  NodeSet needed_;
  SharedBits read_, read_again_;  // by inputs
  BlankVector<State> states_;     // by node; empty where all are alive and no more is known of any
  bool ordered_ = false;
  bool all_alive_ = false;  // and all are needed
  bool goes_back_ = false, any_branch_ = false, any_dead_ = false, any_effect_ = false;
  mutable bool asked_readers_ = false;
};

// The value of a Const that is a scalar bool or integer.
std::optional<int64_t> scalar_of(std::string_view const_def);
bool is_back_edge(const Net& net, Number reader, In in);

}  // namespace gedit::optimizing
