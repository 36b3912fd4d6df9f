// A model made smaller: some nodes stay, everything else goes, and with it whatever names it: functions that
// nobody calls any more, collections, contexts, queue runners, signatures, init groups, savers, assets, the
// object graph (docs/rules.md#extract).
//
//   Facts facts(model, ops);
//   Closure closure(facts);
//   closure.want(node);                // what is to stay
//   Reduction reduction(facts, closure);
//   reduction.complete();              // what the state in it needs to be initialized, saved and restored
//   reduction.apply(changes);
#pragma once

#include <functional>
#include <optional>

#include "edit/basis/changes.h"
#include "edit/basis/closure.h"
#include "edit/basis/contexts.h"
#include "edit/objects/keep.h"
#include "edit/savers/keep.h"
#include "edit/savers/keep_functions.h"

namespace gedit {

class Reduction {
 public:
  // `closure` gains what complete() finds; both outlive the reduction.
  Reduction(Facts& facts, Closure& closure);

  // Which state keeps its satellites, and its place in init groups and savers. Without it: tables, and the
  // variables that a VariableDef or an object graph describes or a saver saves, all where there is neither;
  // nothing in a GraphDef, which says nothing about its state (that is TensorFlow's extract_sub_graph), but
  // for fill_tables().
  void keep_state(std::function<bool(const StateOf&)> keeps) { keeps_ = std::move(keeps); }

  // The object graph goes whatever is left, for an edit whose result has none.
  void drop_objects() { objects_.reset(); }

  // Nothing stays for what lies around the graph, for an edit whose result is a GraphDef.
  void keep_graph_alone();

  // Of a GraphDef, too, what fills a table stays with it: no checkpoint does.
  void fill_tables() { fills_tables_ = true; }

  // Keys of the checkpoint by which the object graph finds these variables; none where there is no such
  // graph.
  std::vector<std::string> object_keys(const std::vector<NodeId>& variables) const {
    return objects_ ? objects_->keys_of(variables) : std::vector<std::string>();
  }

  // Savers stay for variables alone; without this also for tables that a TF2 SavedModel restores.
  void need_variables() { tables_count_ = false; }

  // Adds the satellites of that state and their closure, the init groups that run an initializer among them,
  // and its savers. Groups and savers come without what they did for others.
  void complete();

  // Nodes that stay, of those that were there when the reduction was made.
  const NodeSet& kept() const { return closure_.nodes(); }
  bool keeps(NodeId state) const;

  // Makes savers smaller, ahead of apply(), for an edit that must not meet what they hold of other variables.
  void shrink_savers(Changes& changes);

  // Takes everything else away; nodes that were appended since stay. Until then nothing may be removed; the
  // facts are stale afterwards. Removed nodes are listed in `changes`.
  void apply(Changes& changes);

 private:
  void keep_what_is_saved();
  bool keeps_variable() const;
  bool keeps_filled_state() const;
  void want_captured_constants();
  void add_groups();
  void shrink_groups(Changes& changes);

  Facts& facts_;
  Graph& graph_;
  Closure& closure_;
  std::function<bool(const StateOf&)> keeps_;
  Contexts contexts_;
  NodeSet groups_;  // of which some inputs may not stay
  SaverShrinking savers_;
  SaverFunctionShrinking saver_functions_;
  std::optional<ObjectReduction> objects_;
  bool savers_shrunk_ = false, tables_count_ = true, graph_alone_ = false, fills_tables_ = false;
};

}  // namespace gedit
