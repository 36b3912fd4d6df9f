// The object graph of a TF2 SavedModel, reduced to what its graph still has, so that tf.saved_model.load
// finds the variables, tables and signatures that stay (docs/rules.md#extract-object-graph).
//
// What an object stands for says whether it stays: a variable's or table's node, a constant's node, an
// asset's file, the body of a function and all that it captures. Other objects stay while they lead to one of
// these, since the path of a variable is its key in the checkpoint. Costs the size of the object graph.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "edit/basis/changes.h"
#include "edit/basis/facts.h"
#include "model/saved_objects.h"

namespace gedit {

class ObjectReduction {
 public:
  // Finds which node stands for which object, while all of them are there. The facts outlive it.
  explicit ObjectReduction(const Facts& facts);

  // The checkpoint's keys of the objects that stand for the nodes. A saver may know another key of the same
  // value: Keras exports hold each variable twice.
  std::vector<std::string> keys_of(const std::vector<NodeId>& nodes) const;

  // Constants that the functions of these signatures capture.
  std::vector<NodeId> captured_constants(const std::unordered_set<std::string_view>& signatures) const;

  // Decides what stays. Signatures have been reduced by now, the library not yet. `node`: whether a node that
  // was there still is; one that was a variable and is a Const now becomes a constant object.
  void decide(const std::function<bool(NodeId)>& node);

  // Names of functions that the objects which stay call, for the library to keep.
  const std::vector<std::string>& functions() const { return wanted_; }

  // Writes what stays; `function`: whether the library still has it. False where nothing is left of it that a
  // loader would find, and, with a warning, where it cannot be made smaller.
  bool apply(const std::function<bool(std::string_view)>& function, Changes& changes);

 private:
  using Kind = SavedObjects::Kind;

  void settle_captured_tensors(const std::function<bool(std::string_view)>& function);
  bool captures_stay(const SavedObjects::Function& function) const;
  const SavedObjects::Function* known(std::string_view name) const;
  std::string_view now(std::string_view function) const;
  bool is_cut(uint32_t parent, const Trackable::Reference& child) const;
  bool want_functions(uint32_t object);
  void settle_functions(const std::function<bool(std::string_view)>& function);
  void cut_signatures();
  void tell(Changes& changes) const;
  void write();

  const Facts& facts_;
  MetaGraph& meta_;
  SavedObjects objects_;
  std::optional<uint32_t> map_;                           // of signatures
  std::unordered_map<std::string_view, size_t> by_name_;  // concrete functions
  std::unordered_map<uint32_t, NodeId> nodes_;            // by object
  std::unordered_map<std::string_view, NodeId> calls_;    // a call of each concrete function
  std::vector<std::string_view> assets_;                  // as they were
  std::vector<std::string> paths_;
  std::unordered_map<std::string, std::string> renamed_;  // concrete functions that were made anew
  std::unordered_set<std::string> signatures_;            // keys of those that stay
  std::vector<bool> alive_;                               // objects that stand for something that stays
  std::vector<bool> frozen_;                              // variables that are constants now
  std::vector<bool> stays_;                               // of all objects, in the end
  std::vector<bool> function_stays_;                      // of concrete functions
  std::vector<int64_t> new_asset_;                        // -1: gone
  std::vector<std::string> wanted_;
  std::vector<std::string> lost_signatures_;
  std::string broken_;  // why it cannot be made smaller
};

}  // namespace gedit
