// Savers that keep the variables which stay, and let go of the others:
// docs/rules.md#extract-variables-and-savers.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "edit/basis/changes.h"
#include "edit/basis/closure.h"
#include "model/savers.h"

namespace gedit {

class SaverShrinking {
 public:
  SaverShrinking(Facts& facts, Closure& closure);

  // Adds to the closure what the savers of the variables `stays` consist of. May be called again when the
  // closure has grown. `apart`: calls that somebody else decides about.
  void complete(const std::function<bool(NodeId variable)>& stays, const std::function<bool(NodeId)>& apart);

  // Makes Save and Restore nodes, their Consts and the groups around them smaller. Nothing is removed.
  // `dropped` gains the keys that are saved no more, `object_graphs` the Consts that are saved as the
  // checkpoint's object graph.
  void apply(Changes& changes, std::set<std::string, std::less<>>& dropped, std::set<NodeId>& object_graphs);

  // Whether the saver that a SaverDef names is there, before or after apply().
  bool lives(std::string_view saver_def) const;

 private:
  NodeId source_of(NodeId id, size_t slot) const;
  bool owner_stays(const SavedTensor& tensor, NodeId source, const std::function<bool(NodeId)>& stays) const;
  void decide(const std::function<bool(NodeId)>& stays);
  void collect(const std::vector<NodeId>& roots, const std::function<bool(NodeId)>& apart);

  Facts& facts_;
  Graph& graph_;
  Closure& closure_;
  std::unordered_map<uint32_t, const SaverNode*> saves_;              // by node
  std::unordered_map<uint32_t, const SaverNode*> restores_;           // by node
  NodeSet dead_;                                                      // of all savers: what goes
  NodeSet own_;                                                       // nodes of savers that stay
  std::unordered_set<uint32_t> lost_;                                 // files of shards that nobody writes
  std::unordered_map<uint32_t, std::vector<uint32_t>> kept_slots_;    // of Save nodes, ascending
  std::unordered_map<uint32_t, std::vector<uint32_t>> kept_outputs_;  // of Restore nodes, ascending
};

}  // namespace gedit
