#include "diff/scopes.h"

#include <algorithm>

namespace gedit {
namespace {

constexpr size_t kDeepestScope = 64;

// Calls use(scope, rest) for the scopes that hold the name, outermost first: "" with the whole name, `a`,
// `a/b`, and the name as a scope that the node itself belongs to, with nothing as its rest. Stops where `use`
// is false.
template <typename Use>
void each_scope(std::string_view name, Use use) {
  if (!use(std::string_view(), name)) return;
  size_t slash = name.find('/');
  for (size_t level = 1; level < kDeepestScope; ++level) {
    if (slash == std::string_view::npos) {
      use(name, std::string_view());
      return;
    }
    if (!use(name.substr(0, slash), name.substr(slash + 1))) return;
    slash = name.find('/', slash + 1);
  }
}

struct ScopeFacts {
  uint64_t hash = 0, count = 0;
  bool kept = false;    // a node in it has the same name in the other graph
  bool nested = false;  // a node lies below it
  size_t order = 0;
};
using Scopes = std::unordered_map<std::string_view, ScopeFacts>;

Scopes lone_scopes(const Graph& graph, const std::vector<NodeId>& lone, const NodeSet& is_lone) {
  Scopes scopes;
  for (const NodeId id : lone) {
    const NodeHead head = node_head(graph.bytes(id));
    each_scope(head.name, [&](std::string_view scope, std::string_view rest) {
      ScopeFacts& facts = scopes[scope];
      if (facts.count == 0) facts.order = scopes.size();
      // A sum, so that order does not count; both halves go through the hash once more.
      facts.hash += (name_hash(rest) ^ (name_hash(head.op) * 0x9e3779b97f4a7c15)) * 0xe7037ed1a0b428db;
      ++facts.count;
      facts.nested = facts.nested || !rest.empty();
      return true;
    });
  }
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (is_lone.has(NodeId{i})) continue;
    each_scope(graph.name(NodeId{i}), [&](std::string_view scope, std::string_view) {
      const auto found = scopes.find(scope);
      if (found == scopes.end()) return false;  // nor is any deeper one there
      found->second.kept = true;
      return true;
    });
  }
  return scopes;
}

size_t depth(std::string_view scope) {
  return scope.empty() ? 0 : 1 + static_cast<size_t>(std::count(scope.begin(), scope.end(), '/'));
}

// Whether an outer scope of it, or it itself, is in the set.
bool covered(std::string_view scope, const std::unordered_map<std::string_view, size_t>& taken) {
  bool found = false;
  each_scope(scope, [&](std::string_view outer, std::string_view) {
    found = taken.contains(outer);
    return !found;
  });
  return found;
}

}  // namespace

void ScopeNames::map(std::string_view name, std::string& out) const {
  bool done = false;
  each_scope(name, [&](std::string_view scope, std::string_view rest) {
    const auto found = scopes_.find(scope);
    if (found == scopes_.end()) return true;
    out += found->second;
    if (!found->second.empty() && !rest.empty()) out += '/';
    out += rest;
    done = true;
    return false;
  });
  if (!done) out += name;
}

void ScopeMapping::identity(const NodeHead& holder, Role role, std::string_view value,
                            std::string& out) const {
  const bool own = role == Role::kSharedName && !value.empty() && value == holder.name;
  if (role == Role::kFrame || own) {
    names_.map(value, out);
  } else {
    out += value;
  }
}

bool ScopeNameMap::map(NameKind kind, std::string_view name, std::string& out) const {
  if (kind == NameKind::kFunction || kind == NameKind::kVariable) {
    out += name;
    return true;
  }
  if (name.starts_with('^')) {
    out += '^';
    name.remove_prefix(1);
  }
  const Input input = parse_input(name);
  names_.map(input.node, out);
  out += name.substr(input.node.size());
  return true;
}

std::vector<ScopePair> find_renamed_scopes(const Graph& before, const Graph& after, const Matched& matched) {
  std::vector<ScopePair> pairs;
  std::vector<NodeId> removed;
  NodeSet is_removed(before.size()), is_added(after.size());
  for (uint32_t i = 0; i < before.size(); ++i) {
    if (matched.partner[i] != kNoNode) continue;
    removed.push_back(NodeId{i});
    is_removed.add(NodeId{i});
  }
  for (const NodeId id : matched.added) is_added.add(id);
  if (removed.empty() || matched.added.empty()) return pairs;

  const Scopes from = lone_scopes(before, removed, is_removed);
  const Scopes to = lone_scopes(after, matched.added, is_added);
  std::unordered_map<uint64_t, std::vector<std::string_view>> by_hash;
  const auto sorted = [](const Scopes& scopes) {
    std::vector<std::string_view> list;
    for (const auto& [scope, facts] : scopes) {
      if (!facts.kept && facts.nested) list.push_back(scope);
    }
    std::sort(list.begin(), list.end(), [&](std::string_view a, std::string_view b) {
      const size_t depth_a = depth(a), depth_b = depth(b);
      return depth_a != depth_b ? depth_a < depth_b : scopes.at(a).order < scopes.at(b).order;
    });
    return list;
  };
  for (const std::string_view scope : sorted(to)) by_hash[to.at(scope).hash].push_back(scope);
  for (auto& [hash, list] : by_hash) std::reverse(list.begin(), list.end());  // taken from the back
  std::unordered_map<std::string_view, size_t> taken_from, taken_to;
  for (const std::string_view scope : sorted(from)) {
    if (covered(scope, taken_from)) continue;
    const ScopeFacts& facts = from.at(scope);
    const auto found = by_hash.find(facts.hash);
    if (found == by_hash.end()) continue;
    std::vector<std::string_view>& list = found->second;
    while (!list.empty() && covered(list.back(), taken_to)) list.pop_back();
    if (list.empty() || to.at(list.back()).count != facts.count) continue;
    taken_from.emplace(scope, pairs.size());
    taken_to.emplace(list.back(), pairs.size());
    pairs.push_back({std::string(scope), std::string(list.back()), {}});
    list.pop_back();
  }
  if (pairs.empty()) return pairs;

  // The nodes of a pair, by the rest of their names; equal sums are no proof.
  std::unordered_map<std::string_view, NodeId> added;
  for (const NodeId id : matched.added) added.emplace(after.name(id), id);
  std::string name;
  for (const NodeId id : removed) {
    each_scope(before.name(id), [&](std::string_view scope, std::string_view rest) {
      const auto found = taken_from.find(scope);
      if (found == taken_from.end()) return true;
      ScopePair& pair = pairs[found->second];
      name = pair.to;
      if (!name.empty() && !rest.empty()) name += '/';
      name += rest;
      const auto partner = added.find(name);
      if (partner != added.end()) pair.nodes.emplace_back(id, partner->second);
      return false;
    });
  }
  std::erase_if(pairs, [&](const ScopePair& pair) { return pair.nodes.size() != from.at(pair.from).count; });
  return pairs;
}

}  // namespace gedit
