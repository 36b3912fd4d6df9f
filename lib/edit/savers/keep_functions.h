// The saver of a TF2 SavedModel, which is calls of functions with every variable, made smaller
// (docs/rules.md#extract-variables-and-savers, docs/tensorflow.md#savers-in-functions).
#pragma once

#include <functional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "edit/basis/changes.h"
#include "edit/basis/closure.h"
#include "graph/library.h"

namespace gedit {

class SaverFunctionShrinking {
 public:
  SaverFunctionShrinking(Facts& facts, Closure& closure);

  // Adds to the closure the calls that saver_def names and what they pass on but variables that do not stay.
  // Nothing where saver_def names no calls or no variable stays. Throws Error (kRefused) where a function
  // uses a variable in a way that cannot be taken out.
  void complete(const std::function<bool(NodeId variable)>& stays);

  bool any() const { return !calls_.empty(); }  // that stay

  // Whether the node is such a call.
  bool is_call(NodeId id) const { return known_.contains(id); }

  // Makes the calls and the functions smaller. `dropped` gains the keys that are saved no more,
  // `object_graphs` the Consts that are saved as the checkpoint's object graph.
  void apply(Changes& changes, std::set<std::string, std::less<>>& dropped, std::set<NodeId>& object_graphs);

 private:
  struct Call {
    NodeId node;
    std::vector<bool> dropped;  // by argument
  };
  void tell_keys(const Call& call, const Function& function, std::set<std::string, std::less<>>& dropped,
                 std::set<NodeId>& object_graphs) const;

  std::vector<NodeId> all_, groups_;  // calls of the savers that saver_def names, and NoOps that run several
  std::unordered_set<NodeId> known_;  // all_
  std::vector<Call> calls_;           // those that stay
  Facts& facts_;
  Closure& closure_;
};

}  // namespace gedit
