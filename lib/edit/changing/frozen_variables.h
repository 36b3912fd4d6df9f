// Which variables of a main graph become constants, and which stay (docs/rules.md#freeze).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "edit/basis/changes.h"
#include "edit/basis/closure.h"
#include "edit/basis/names.h"
#include "edit/functions/freeze.h"
#include "edit/functions/handle_flow.h"
#include "edit/savers/values.h"

namespace gedit {

class FrozenVariables {
 public:
  // `keep`: a selector of variables that stay, whether they are needed or not; may be empty. Throws Error
  // (kRefused) where it hits none. The facts outlive it.
  FrozenVariables(Facts& facts, const std::string& keep);

  const NodeSet& kept() const { return kept_; }
  // Of these the ones that `keep` did not name: a saver restores them with what one that it names gets.
  const std::vector<NodeId>& kept_along() const { return kept_along_; }
  // And those that nobody named, since they hold paths of assets.
  const std::vector<NodeId>& asset_paths() const { return asset_paths_; }
  const NodeSet& frozen() const { return frozen_; }
  bool any_kept_in(const NodeSet& stays) const;

  // Whether functions hold variables themselves.
  bool in_functions() const { return !owners_.empty(); }

  // While it is not known which are needed, all but the kept ones freeze.
  bool all_freeze() const { return all_freeze_; }
  void freeze_needed(const std::vector<NodeId>& needed);
  // What only initial values read, and nothing that stays initializes, is a constant as well.
  void freeze_what_nothing_initializes(const Closure& closure);

  // Every variable of these nodes that may become a constant; gives the number of all variables.
  uint64_t seed_all(HandleFlow& flow, const NodeSet& nodes) const;
  void seed_frozen(HandleFlow& flow) const;
  void seed_kept(HandleFlow& flow) const;

  // `new_readers`: by node, that read it besides those of the facts. It outlives the answers, as this does.
  using Readers = std::unordered_map<uint32_t, std::vector<NodeId>>;
  HandleFlow::Questions questions(std::function<bool(NodeId)> regards, const Readers* new_readers) const;

  // Functions below these nodes that hold variables themselves.
  void freeze_owners(const std::vector<NodeId>& nodes, const Library& library,
                     FunctionFreezing& functions) const;

  // The variables become Consts, or Casts of new ones where savers have narrower numbers. Throws Error
  // (kRefused) where there are any and no values.
  void put_values(VariableValues* values, NewNames& names, Changes& changes) const;

 private:
  void keep_asset_paths();
  void keep_mirrors();
  void freeze_if_variable(NodeId id);
  void seed(HandleFlow& flow, NodeId variable) const;

  Facts& facts_;
  std::unordered_set<std::string_view> functions_, owners_;  // owners_: that hold variables themselves
  NodeSet kept_;
  std::vector<NodeId> kept_along_, asset_paths_;
  NodeSet frozen_;
  bool all_freeze_ = true;
};

}  // namespace gedit
