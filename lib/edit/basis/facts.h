// What the edits of a whole graph need to know of it: who reads whom, which state there is, how it is saved.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/edges.h"
#include "graph/frames.h"
#include "graph/function_names.h"
#include "graph/index.h"
#include "graph/names.h"
#include "model/collections.h"
#include "model/savers.h"
#include "ops/registry.h"
#include "select/selection.h"
#include "select/tensors.h"

namespace gedit {

// A variable or a table and the nodes that are its own (docs/rules.md#satellites), the closure of its
// initial value left out.
struct StateOf {
  NodeId node = kNoNode;
  std::vector<NodeId> satellites;  // a variable's initializer, reads, initial value; a table's initializers
  NodeId initializer = kNoNode;
  bool table = false;
  bool described = false;  // by a VariableDef
};

// A graph and what is derived from it, which is made when it is first asked for: most edits need little of
// it. A fact tells of the graph as it was when it was first asked for: ask before the graph changes.
class Facts {
 public:
  // Of the main graph, or of the body of a library function. All outlive the facts.
  Facts(Model& model, Registry& ops, std::string_view function = {});
  // Of the main graph, of which the index, or that of an equal one, is known.
  Facts(Model& model, Registry& ops, const GraphIndex* known);

  Model& model;
  Registry& ops;

  const Graph& graph() const { return graph_; }
  Graph& edited() const { return graph_; }
  bool in_body() const { return graph_.is_body(); }

  Selecting& selecting() const { return selecting_; }
  const Names& names() const;
  bool has_names() const { return names_asked_; }
  const Edges& producers() const;
  const Edges& consumers() const;
  std::function<const Edges&()> how_produced() const {
    return [this]() -> const Edges& { return producers(); };
  }
  const Tensors& tensors() const;
  const Frames& frames() const;
  // Nothing of a body.
  const Savers& savers() const;
  const std::vector<Collection>& collections() const;
  // By node: all variables and tables.
  const std::unordered_map<uint32_t, StateOf>& state() const;
  // The variable or table of each initializer.
  const std::unordered_map<uint32_t, NodeId>& initializer_owner() const;

  // Whether the node is there to wait for others: a NoOp, or what gives on a constant, which is what an
  // inlined call is to whoever waited for it.
  bool only_waits(NodeId id) const;

  // Who reads a handle, behind what only hands it on, as inlined calls leave it.
  std::vector<NodeId> handle_readers(NodeId id) const;

  // Makes all of them now: for an edit that asks while it changes the graph.
  void make_all() const;

 private:
  // Few nodes on which much hangs, found in one pass: a large graph is long to read.
  struct FirstPass {
    bool loops = false;                 // there is an Enter
    std::vector<NodeId> savers, state;  // Save and Restore nodes; variables and tables
  };
  // The state, and who initializes it.
  struct State {
    std::unordered_map<uint32_t, StateOf> nodes;
    std::unordered_map<uint32_t, NodeId> owners;
  };

  template <typename Fact, typename Make>
  const Fact& known(std::optional<Fact>& fact, Make make) const;
  const FirstPass& first_pass() const;
  const State& all_state() const;
  bool reads_first(NodeId reader, NodeId source) const;
  void add_described(State& state) const;
  void add_unnamed(State& state) const;

  mutable Selecting selecting_;
  Graph& graph_;
  const std::string function_;
  const GraphIndex* known_index_ = nullptr;
  const bool edited_before_;
  mutable bool names_asked_ = false;
  mutable std::optional<Names> body_names_;
  mutable std::optional<Edges> body_producers_, consumers_;
  mutable std::optional<Tensors> tensors_;
  mutable std::optional<FirstPass> first_pass_;
  mutable std::optional<Frames> frames_;
  mutable std::optional<Savers> savers_;
  mutable std::optional<std::vector<Collection>> collections_;
  mutable std::optional<State> state_;
};

}  // namespace gedit
