#include "edit/changing/sync_pairs.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "base/near.h"
#include "base/size.h"
#include "edit/basis/key_value.h"
#include "graph/types.h"
#include "model/collections.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

std::string scope_of_prefix(std::string_view prefix) {
  return std::string(prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1));
}

bool stands_under(std::string_view name, const std::string& prefix) {
  return name.size() > prefix.size() && name.starts_with(prefix);
}

}  // namespace

std::string sync_prefix(std::string scope) {
  while (scope.ends_with('/')) scope.pop_back();
  return scope.empty() ? scope : scope + "/";
}

DType variable_type(std::string_view node_def) {
  return type_attr(node_def, "dtype").value_or(DType::kInvalid);
}

Shape variable_shape(std::string_view node_def) {
  const auto value = find_attr(node_def, "shape");
  if (!value) return std::nullopt;
  const Shape shape = parse_shape_proto(last_bytes(*value, attr_field::kShape));
  // The op of TensorFlow 0.x says [] where it does not know (core/ops/state_ops.cc).
  if (is(node_op(node_def), OpKind::kUnknownShapeIsEmpty) && shape && shape->empty()) return std::nullopt;
  return shape;
}

SyncVariables::SyncVariables(const Facts& facts, std::string from, std::string to, bool all)
    : facts_(facts), from_(std::move(from)), to_(std::move(to)), all_(all) {
  const Graph& nodes = facts_.graph();
  trainable_ = stepped_ = taken_ = NodeSet(nodes.size());
  for (const Collection& collection : facts_.collections()) {
    if (collection.key != collection_key::kTrainableVariables) continue;
    has_trainable_ = true;
    if (collection.kind != collection_kind::kBytesList) continue;
    for (const std::string_view def : collection.items) {
      const NodeId id = facts_.names().find(node_of(variable_names(def).variable));
      if (id != kNoNode) trainable_.add(id);
    }
  }
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    const NodeId id{i};
    if (nodes.removed(id)) continue;
    const std::string_view node_def = nodes.bytes(id), op = node_op(node_def);
    if (is_variable_op(op)) variables_.push_back(id);
    if (!is(op, OpKind::kApply)) continue;
    bool first = true;
    each_input(node_def, [&](std::string_view input) {
      const NodeId variable = variable_behind(nodes, facts_.names(), input);
      if (variable != kNoNode) (first ? stepped_ : taken_).add(variable);
      first = false;
    });
  }
}

// An optimizer's own: DST keeps what belongs to its training.
bool SyncVariables::is_slot(NodeId id) const {
  return taken_.has(id) && !stepped_.has(id) && !trainable_.has(id);
}

bool SyncVariables::wanted(NodeId id) const {
  const std::string_view name = facts_.graph().name(id);
  if (!stands_under(name, to_) || (source_inside() && stands_under(name, from_))) return false;
  return all_ || !has_trainable_ ? !is_slot(id) : trainable_.has(id);
}

std::vector<SyncPair> SyncVariables::by_scope(std::vector<SyncPair> pairs) const {
  NodeSet named(facts_.graph().size());
  for (const SyncPair& pair : pairs) named.add(pair.to);
  const auto any_in = [&](const std::string& prefix) {
    return prefix.empty() || std::ranges::any_of(variables_, [&](NodeId id) {
             return stands_under(facts_.graph().name(id), prefix);
           });
  };
  const bool any_from = any_in(from_);
  for (const NodeId id : variables_) {
    if (named.has(id) || !wanted(id)) continue;
    if (!any_from) refuse_without_variables(from_);
    pairs.push_back(partner_of(id));
  }
  if (pairs.empty()) refuse_empty(any_in(to_));
  return pairs;
}

void SyncVariables::refuse_empty(bool any) const {
  if (any) {
    throw refused("no trainable variable is in it")
        .of(quoted("scope", to_))
        .hint(all_ || !has_trainable_ ? "" : "--all");
  }
  refuse_without_variables(to_);
}

void SyncVariables::refuse_without_variables(const std::string& scope) const {
  Near near(scope_of_prefix(scope));
  std::unordered_set<std::string_view> seen;
  for (const NodeId id : variables_) {
    const std::string_view name = facts_.graph().name(id);
    for (size_t slash = name.find('/'); slash != std::string_view::npos; slash = name.find('/', slash + 1)) {
      if (seen.insert(name.substr(0, slash)).second) near.offer(name.substr(0, slash));
    }
  }
  throw refused("no variable is in it")
      .of(quoted("scope", scope))
      .hint(near.best().empty() ? "" : "did you mean '" + printable(near.best()) + "/'?");
}

// What two variables must agree in.
SyncPair SyncVariables::checked(SyncPair pair) const {
  const DType from_type = variable_type(bytes(pair.from)), to_type = variable_type(bytes(pair.to));
  const Shape from_shape = variable_shape(bytes(pair.from)), to_shape = variable_shape(bytes(pair.to));
  if (from_type == to_type && compatible(from_shape, to_shape)) return pair;
  throw refused(dtype_name(to_type) + shape_text(to_shape) + ", '" +
                printable(facts_.graph().name(pair.from)) + "' is " + dtype_name(from_type) +
                shape_text(from_shape))
      .of(quoted("variable", facts_.graph().name(pair.to)));
}

SyncPair SyncVariables::partner_of(NodeId to) const {
  const std::string_view name = facts_.graph().name(to);
  const std::string rest(name.substr(to_.size()));
  const std::string wanted = from_ + rest;
  const NodeId from = facts_.names().find(wanted);
  if (from == kNoNode || !is_variable_op(op(from))) {
    Near near(wanted);
    for (const NodeId id : variables_) {
      if (!stands_under(facts_.graph().name(id), to_)) near.offer(facts_.graph().name(id));
    }
    const std::string why = from == kNoNode
                                ? "no '" + printable(wanted) + "'"
                                : "'" + printable(wanted) + "' (" + printable(op(from)) + ") is no variable";
    throw refused(why).of(quoted("variable", name)).hint(near.did_you_mean());
  }
  return checked({rest, from, to});
}

NodeId SyncVariables::find(const std::string& name) const {
  const NodeId id = facts_.names().find(name);
  if (id != kNoNode && is_variable_op(op(id))) return id;
  Near near(name);
  for (const NodeId variable : variables_) near.offer(facts_.graph().name(variable));
  throw refused(id == kNoNode ? "no such variable" : printable(op(id)) + " is no variable")
      .of(quoted("variable", name))
      .hint(near.did_you_mean());
}

std::vector<SyncPair> SyncVariables::named(const std::vector<std::string>& texts) const {
  std::vector<SyncPair> pairs;
  std::unordered_set<uint32_t> assigned;
  for (const std::string& text : read_pairs(texts)) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      throw misused(text, "is no A=B");
    const NodeId from = find(text.substr(0, equals)), to = find(text.substr(equals + 1));
    const std::string_view name = facts_.graph().name(to);
    if (from == to) throw misused(text, "both are the same");
    if (!assigned.insert(index_of(to)).second)
      throw misused(text, "'" + printable(name) + "' is given twice");
    pairs.push_back(
        checked({std::string(stands_under(name, to_) ? name.substr(to_.size()) : name), from, to}));
  }
  return pairs;
}

void SyncVariables::check_order(const std::vector<SyncPair>& pairs) const {
  NodeSet assigned(facts_.graph().size());
  for (const SyncPair& pair : pairs) assigned.add(pair.to);
  for (const SyncPair& pair : pairs) {
    if (!assigned.has(pair.from)) continue;
    throw refused("is read for one pair and assigned for another, in no order")
        .of(quoted("variable", facts_.graph().name(pair.from)))
        .hint("two operations, one after the other");
  }
}

std::string SyncVariables::rest() const {
  size_t count = 0;
  std::string first;
  for (const NodeId id : variables_) {
    const std::string_view name = facts_.graph().name(id);
    if (!stands_under(name, from_) ||
        (from_.size() < to_.size() && to_.starts_with(from_) && stands_under(name, to_)))
      continue;
    const NodeId partner = facts_.names().find(to_ + std::string(name.substr(from_.size())));
    if (partner != kNoNode && is_variable_op(op(partner))) continue;
    if (count++ == 0) first = name;
  }
  if (count == 0) return "";
  return fmt::format("{} of '{}' {} no partner in '{}', first '{}'", counted(count, "variable"),
                     printable(scope_of_prefix(from_)), count == 1 ? "has" : "have",
                     printable(scope_of_prefix(to_)), printable(first));
}

std::string SyncVariables::left(const std::vector<SyncPair>& pairs) const {
  if (all_ || !has_trainable_) return "";
  NodeSet paired(facts_.graph().size());
  for (const SyncPair& pair : pairs) paired.add(pair.to);
  size_t count = 0;
  std::string_view first;
  for (const NodeId id : variables_) {
    const std::string_view name = facts_.graph().name(id);
    if (!stands_under(name, to_) || (source_inside() && stands_under(name, from_))) continue;
    if (paired.has(id) || trainable_.has(id) || is_slot(id)) continue;
    const NodeId partner = facts_.names().find(from_ + std::string(name.substr(to_.size())));
    if (partner == kNoNode || !is_variable_op(op(partner))) continue;
    if (count++ == 0) first = name;
  }
  if (count == 0) return "";
  return fmt::format("{} of '{}' {} not trainable and {} left alone, first '{}'; hint: --all",
                     counted(count, "variable"), printable(scope_of_prefix(to_)), count == 1 ? "is" : "are",
                     count == 1 ? "is" : "are", printable(first));
}

}  // namespace gedit
