#include "edit/basis/runtime_names.h"

#include <algorithm>
#include <array>

#include "base/first_free.h"
#include "base/map_entry.h"
#include "base/parallel.h"
#include "graph/alike.h"
#include "graph/mapping.h"
#include "graph/names.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

std::string without_slash(std::string_view scope) {
  while (scope.ends_with('/')) scope.remove_suffix(1);
  return std::string(scope);
}

// Calls use(role, attr_value) for every attribute that identifies something. Asked for many nodes of a large
// graph: only the value of an attribute that does is looked at.
template <typename Use>
void each_identity(std::string_view node_def, Use use) {
  std::string_view op;
  for (Fields fields(node_def); fields.next();) {
    if (fields->bytes(node_field::kOp)) op = fields->value;
    if (!fields->bytes(node_field::kAttr)) continue;
    if (op.empty()) op = node_op(node_def);
    const Role role = attr_role(op, map_key(fields->value));
    if (role != Role::kNone && role != Role::kColocation && role != Role::kGradientType)
      use(role, map_entry(fields->value).value);
  }
}

}  // namespace

ScopeNames::ScopeNames(std::string_view from, bool has_from, std::string_view to)
    : from_(without_slash(from)), to_(without_slash(to)), has_from_(has_from && !from_.empty()) {}

void ScopeNames::append(std::string_view name, std::string& out) const {
  if (has_from_ && in_scope(name, from_)) {
    name.remove_prefix(from_.size());
    if (to_.empty() && !name.empty()) name.remove_prefix(1);
    out += to_;
    out += name;
    return;
  }
  if (!to_.empty()) {
    out += to_;
    out += '/';
  }
  out += name;
}

std::vector<std::string> ScopeNames::origins(std::string_view name) const {
  std::vector<std::string> found;
  if (has_from_ && (to_.empty() || in_scope(name, to_))) {
    std::string_view rest = name.substr(to_.size());
    found.push_back(from_ + (to_.empty() ? "/" : "") + std::string(rest));
  }
  if (to_.empty()) {
    found.emplace_back(name);
  } else if (name.size() > to_.size() && in_scope(name, to_)) {
    found.emplace_back(name.substr(to_.size() + 1));
  }
  return found;
}

const std::string& FreshNames::of(std::string_view name) {
  const auto found = made_.find(name);
  if (found != made_.end()) return found->second;
  std::string fresh = free_names_.first(
      scope_.of(name), [&](const std::string& one) { return stays_as_it_is(one) || taken_.contains(one); });
  taken_.insert(fresh);
  return made_.emplace(name, std::move(fresh)).first->second;
}

void Identities::take(std::string_view node_def) {
  each_identity(node_def, [&](Role role, std::string_view value) {
    if (role == Role::kInstanceKey) {
      taken_keys_.insert(static_cast<int64_t>(last_varint(value, attr_field::kInt)));
    } else {
      names(role).take(last_bytes(value, attr_field::kString));
    }
  });
}

void Identities::take_made(const Identities& other, bool shared) {
  for (const Role role : {Role::kFrame, Role::kSharedName, Role::kPair}) {
    if (role == Role::kSharedName && !shared) continue;
    for (const auto& [from, to] : other.made(role)) names(role).take(to);
  }
  for (const auto& [from, to] : other.keys_) taken_keys_.insert(to);
}

void Identities::want(Role role, std::string_view attr_value) {
  if (role == Role::kInstanceKey) {
    const auto key = static_cast<int64_t>(last_varint(attr_value, attr_field::kInt));
    if (keys_.contains(key)) return;
    int64_t fresh = key;
    if (taken_keys_.contains(key)) {
      while (taken_keys_.contains(lowest_key_)) ++lowest_key_;
      fresh = lowest_key_;
    }
    taken_keys_.insert(fresh);
    keys_.emplace(key, fresh);
    return;
  }
  const std::string_view text = last_bytes(attr_value, attr_field::kString);
  if (!stays_as_it_is(text)) names(role).of(text);
}

void Identities::want(std::string_view node_def) {
  each_identity(node_def, [&](Role role, std::string_view value) { want(role, value); });
}

void Identities::want_in_body(std::string_view node_def) {
  each_identity(node_def, [&](Role role, std::string_view value) {
    if (role == Role::kSharedName || role == Role::kInstanceKey) want(role, value);
  });
  if (shares_by_node_name(node_def)) shared_.of(node_name(node_def));
}

void Identities::append(Role role, std::string_view value, std::string& out) const {
  const FreshNames::Made& known = made(role);
  if (stays_as_it_is(value) || role == Role::kGradientType) {
    out += value;
  } else if (const auto found = known.find(value); found != known.end()) {
    out += found->second;
  } else {
    scope_.append(value, out);
  }
}

bool Identities::any_changed() const {
  const auto changed = [](const auto& made) { return made.first != made.second; };
  return std::any_of(keys_.begin(), keys_.end(), changed) ||
         std::any_of(frames_.made().begin(), frames_.made().end(), changed) ||
         std::any_of(shared_.made().begin(), shared_.made().end(), changed) ||
         std::any_of(pairs_.made().begin(), pairs_.made().end(), changed);
}

int64_t Identities::instance_key(int64_t key) const {
  const auto found = keys_.find(key);
  return found == keys_.end() ? key : found->second;
}

bool Identities::any_numbered() const {
  return std::ranges::any_of(std::array{&frames_, &shared_, &pairs_}, [&](const FreshNames* names) {
    return std::ranges::any_of(names->made(),
                               [&](const auto& made) { return made.second != scope_.of(made.first); });
  });
}

namespace {

bool holds_identity(std::string_view node_def) {
  bool any = false;
  each_identity(node_def, [&](Role role, std::string_view value) {
    any = any || role == Role::kInstanceKey || !stays_as_it_is(last_bytes(value, attr_field::kString));
  });
  return any;
}

std::vector<NodeId> find_identity_holders(const Graph& graph, const NodeSet* among) {
  constexpr size_t kNodes = 4 * kPerPiece;
  const auto look = [&](PieceRange nodes) {
    std::vector<NodeId> found;
    AlikeAttrs<bool> seen(graph);  // of one op with the same attributes: they have the same identities
    for (uint32_t i = nodes.begin; i < nodes.end; ++i) {
      const NodeId id{i};
      if (graph.removed(id) || (among != nullptr && !among->has(id))) continue;
      const std::string_view node_def = graph.bytes(id);
      const std::string_view attrs = like_of(node_def).attrs;
      if (seen.find(id, attrs) != nullptr) continue;
      seen.keep(id, attrs, true);
      if (graph.is(id, OpKind::kVarHandle) || holds_identity(node_def)) found.push_back(id);
    }
    return found;
  };
  return found_in_pieces(graph.size(), look, kNodes);
}

}  // namespace

std::vector<NodeId> identity_holders(const Graph& graph) { return find_identity_holders(graph, nullptr); }

std::vector<NodeId> identity_holders(const Graph& graph, const NodeSet& among) {
  return find_identity_holders(graph, &among);
}

bool shares_by_node_name(std::string_view node_def) {
  const std::string_view op = node_op(node_def);
  if (!is(op, OpKind::kKnownByNode)) {
    if (!is(op, OpKind::kNamedTable)) return false;
    const auto sharing = find_attr(node_def, "use_node_name_sharing");
    if (!sharing || last_varint(*sharing, attr_field::kBool) == 0) return false;
  }
  return string_attr(node_def, "shared_name").value_or("").empty();
}

bool is_handle_without_name(std::string_view node_def) {
  return is_var_handle_op(node_op(node_def)) && string_attr(node_def, "shared_name").value_or("").empty();
}

bool needs_shared_name(std::string_view op, std::string_view node_def) {
  return is_var_handle_op(op) && !find_attr(node_def, "shared_name");
}

void append_shared_name(std::string_view name, std::string& out) {
  append_map_entry(out, node_field::kAttr, "shared_name", string_value(name));
}

}  // namespace gedit
