// Which variable `gedit sync` assigns the value of which (docs/rules.md#sync).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "edit/basis/facts.h"

namespace gedit {

struct SyncPair {
  std::string name;  // x of SRC/x and DST/x
  NodeId from, to;
  std::string assign{};  // the node that assigns
};

// `scope/` as the beginning of names; empty for the whole graph.
std::string sync_prefix(std::string scope);

// The dtype of a variable, and its shape as far as its node tells it.
DType variable_type(std::string_view node_def);
Shape variable_shape(std::string_view node_def);

class SyncVariables {
 public:
  // `from`, `to`: prefixes; `all`: not only the trainable ones.
  SyncVariables(const Facts& facts, std::string from, std::string to, bool all);

  // The pairs A=B, where A is read and B assigned; `@file` with one a line. Throws Error: kUsage for what has
  // not that form, kRefused where one is no variable or they are of different types.
  std::vector<SyncPair> named(const std::vector<std::string>& texts) const;

  // `pairs`, and behind them those of the same name in both scopes. Throws Error (kRefused) where there is
  // none, or a partner is missing or of another type.
  std::vector<SyncPair> by_scope(std::vector<SyncPair> pairs) const;

  // Throws Error (kRefused) where a variable is read for one pair and assigned for another: nothing orders
  // them.
  void check_order(const std::vector<SyncPair>& pairs) const;

  // A note of what of SRC has no partner; empty where all have.
  std::string rest() const;
  // A note of variables of DST that have a partner and are in no pair, since they are not trainable.
  std::string left(const std::vector<SyncPair>& pairs) const;

 private:
  std::string_view bytes(NodeId id) const { return facts_.graph().bytes(id); }
  std::string_view op(NodeId id) const { return node_op(bytes(id)); }
  bool is_slot(NodeId id) const;
  bool wanted(NodeId id) const;
  [[noreturn]] void refuse_empty(bool any) const;
  [[noreturn]] void refuse_without_variables(const std::string& scope) const;
  SyncPair checked(SyncPair pair) const;
  SyncPair partner_of(NodeId to) const;
  NodeId find(const std::string& name) const;
  // Whether SRC lies in DST: what is in it is then read, and not assigned.
  bool source_inside() const { return from_.size() > to_.size() && from_.starts_with(to_); }

  const Facts& facts_;
  const std::string from_, to_;
  const bool all_;
  std::vector<NodeId> variables_;
  NodeSet trainable_, stepped_, taken_;  // stepped: first input of an Apply op; taken: another input
  bool has_trainable_ = false;
};

}  // namespace gedit
