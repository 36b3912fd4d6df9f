// What the edits of a whole graph need to know of it: who reads whom, which state there is, how it is saved.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/edges.h"
#include "graph/frames.h"
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

// Few nodes on which much hangs, found in one pass: a large graph is long to read.
struct Landmarks {
  explicit Landmarks(const Graph& graph);

  bool loops = false;                 // there is an Enter
  std::vector<NodeId> savers, state;  // Save and Restore nodes; variables and tables
};

// Built once, before anything changes.
struct Facts {
  // Of the main graph, or of the body of a library function.
  Facts(Model& model, Registry& ops, std::string_view function = {});

  Model& model;
  Registry& ops;
  Selecting selecting;
  Graph& edited;
  std::optional<Names> body_names;
  std::optional<Edges> body_producers;
  const Names& names;
  const Edges& producers;
  Tensors tensors;
  Edges consumers;
  Landmarks landmarks;
  Frames frames;
  Savers savers;
  std::vector<Collection> all_collections;
  std::unordered_map<uint32_t, StateOf> state;             // by node: all variables and tables
  std::unordered_map<uint32_t, NodeId> initializer_owner;  // an initializer -> its variable or table

  const Graph& graph() const { return edited; }
  bool in_body() const { return edited.is_body(); }
};

// The functions that hold an op of the wanted kind, or call one that does.
std::unordered_set<std::string_view> functions_with(const Library& library,
                                                    const std::function<bool(std::string_view)>& wanted);

}  // namespace gedit
