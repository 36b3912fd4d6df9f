// The graph and the functions whose nodes `gedit set` changes, step by step (docs/rules.md#set). Names and
// inputs stay as they are, so what was derived from them holds from the first step to the last.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "edit/basis/changes.h"
#include "graph/edges.h"
#include "graph/library.h"
#include "graph/names.h"
#include "graph/op_defs.h"
#include "select/selection.h"
#include "shape/infer.h"

namespace gedit {

class Setting {
 public:
  Setting(Model& model, Registry& ops, bool want_changes);

  Model& model;
  Registry& ops;
  OpDefs op_defs;
  Selecting selecting;
  Changes changes;

  Graph& graph() { return model.graph(); }

  // Derived from a function's body when it is needed; `function` is empty for the main graph.
  const Names& names(const std::string& function);
  const Edges& consumers(const std::string& function);

  // Calls use(graph, id, function) for every node hit.
  template <typename Use>
  void each(const Selection& selection, Use use) {
    for (const NodeId id : selection.nodes.nodes()) use(graph(), id, std::string());
    for (const auto& [index, nodes] : selection.in_functions) {
      Function& function = selecting.library().functions[index];
      for (const NodeId id : nodes.nodes()) use(function.body, id, std::string(function.name));
    }
  }

  void replace(Graph& where, NodeId id, std::string_view node_def);
  void touch_functions() { functions_edited_ = true; }  // the library is written anew

  // What became of a node or of what a signature names; nothing where it was not asked for.
  void say(const std::string& function, std::string_view name, std::string what);

  // The node may give another shape than it did.
  void mark_stale(Graph& where, const std::string& function, NodeId id);

  // The tensor has a shape that the file does not say of what is made of it.
  void state(StatedShape shape) { stated_.push_back(std::move(shape)); }

  // Takes from the nodes that are stale, and those behind them, what the file says of their shapes.
  void drop_stale();

  // Every node of the main graph, which is then written once more, on one device: the last step.
  void put_all_on(std::string device);

  Changes finish();

 private:
  struct Stale {
    Graph* graph;
    NodeSet nodes;
  };

  void store_functions();

  bool want_changes_;
  bool functions_edited_ = false;
  std::shared_ptr<const Mapping> on_device_;
  std::map<std::string, Stale> stale_;  // by function
  std::vector<StatedShape> stated_;
  std::map<std::string, std::unique_ptr<Names>> body_names_;
  std::map<std::string, std::unique_ptr<Edges>> consumers_;
};

}  // namespace gedit
