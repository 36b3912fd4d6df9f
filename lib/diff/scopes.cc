#include "diff/scopes.h"

#include <algorithm>

#include "base/parallel.h"
#include "graph/names.h"

namespace gedit {
namespace {

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
  bool kept = false;  // a node in it has the same name in the other graph
  uint32_t depth = 0, order = 0;
};
using Scopes = std::unordered_map<std::string_view, ScopeFacts>;

// A sum over the nodes, so that their order does not count.
uint64_t node_hash(std::string_view rest, std::string_view op) {
  return (name_hash(rest) ^ (name_hash(op) * 0x9e3779b97f4a7c15)) * 0xe7037ed1a0b428db;
}

// The scopes that lone nodes lie below.
Scopes lone_scopes(const Graph& graph, const Names& names, const std::vector<NodeId>& lone,
                   const NodeSet& is_lone) {
  Scopes scopes;
  scopes.reserve(lone.size() / 4);
  std::vector<std::pair<std::string_view, ScopeFacts*>> last;  // neighbours lie in the same scopes
  for (const NodeId id : lone) {
    const NodeHead head = node_head(graph.bytes(id));
    uint32_t depth = 0;
    each_scope(head.name, [&](std::string_view scope, std::string_view rest) {
      if (rest.empty()) return false;
      if (last.size() == depth) last.emplace_back(std::string_view(), nullptr);
      if (last[depth].second == nullptr || last[depth].first != scope) {
        const auto [found, fresh] = scopes.try_emplace(scope);
        if (fresh) {
          found->second.order = static_cast<uint32_t>(scopes.size());
          found->second.depth = depth;
        }
        last[depth] = {scope, &found->second};
      }
      ScopeFacts& facts = *last[depth++].second;
      facts.hash += node_hash(rest, head.op);
      ++facts.count;
      return true;
    });
  }
  for (auto& [scope, facts] : scopes) {  // a node that is named like a scope is in it
    const NodeId id = names.find(scope);
    if (id == kNoNode || !is_lone.has(id)) continue;
    facts.hash += node_hash({}, graph.op(id));
    ++facts.count;
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

// Those that are whole, outermost first, then in the order of the graph.
using Scope = Scopes::value_type;
std::vector<const Scope*> whole_scopes(const Scopes& scopes) {
  std::vector<const Scope*> list;
  for (const Scope& scope : scopes) {
    if (!scope.second.kept) list.push_back(&scope);
  }
  std::sort(list.begin(), list.end(), [](const Scope* a, const Scope* b) {
    return std::pair(a->second.depth, a->second.order) < std::pair(b->second.depth, b->second.order);
  });
  return list;
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

void RenamedScopes::map(std::string_view name, std::string& out) const {
  if (!nodes_.empty()) {
    if (const auto found = nodes_.find(name); found != nodes_.end()) {
      out += found->second;
      return;
    }
  }
  bool done = scopes_.empty();
  if (done) out += name;
  each_scope(name, [&](std::string_view scope, std::string_view rest) {
    if (done) return false;
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

void RenamedScopes::map_function(std::string_view name, std::string& out) const {
  const auto found = functions_.find(name);
  out += found == functions_.end() ? name : std::string_view(found->second);
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
  if (kind == NameKind::kFunction) {
    names_.map_function(name, out);
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

std::vector<ScopePair> find_renamed_scopes(const Graph& before, const Graph& after, const Names& names_after,
                                           const Matched& matched) {
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

  Scopes from, to;
  std::vector<const Scope*> whole_from, whole_to;
  in_parallel(2, [&](size_t which) {
    if (which == 0) {
      from = lone_scopes(before, Names(before), removed, is_removed);
      whole_from = whole_scopes(from);
    } else {
      to = lone_scopes(after, names_after, matched.added, is_added);
      whole_to = whole_scopes(to);
    }
  });
  std::unordered_map<uint64_t, std::vector<const Scope*>> by_hash;
  for (const Scope* scope : whole_to) by_hash[scope->second.hash].push_back(scope);
  for (auto& [hash, list] : by_hash) std::reverse(list.begin(), list.end());  // taken from the back
  std::unordered_map<std::string_view, size_t> taken_from, taken_to;
  for (const Scope* scope : whole_from) {
    const auto found = by_hash.find(scope->second.hash);
    if (found == by_hash.end() || covered(scope->first, taken_from)) continue;
    std::vector<const Scope*>& list = found->second;
    while (!list.empty() && covered(list.back()->first, taken_to)) list.pop_back();
    if (list.empty() || list.back()->second.count != scope->second.count) continue;
    taken_from.emplace(scope->first, pairs.size());
    taken_to.emplace(list.back()->first, pairs.size());
    pairs.push_back({std::string(scope->first), std::string(list.back()->first), {}});
    list.pop_back();
  }
  if (pairs.empty()) return pairs;

  // The nodes of a pair, by the rest of their names; equal sums are no proof.
  std::string name;
  for (const NodeId id : removed) {
    each_scope(before.name(id), [&](std::string_view scope, std::string_view rest) {
      const auto found = taken_from.find(scope);
      if (found == taken_from.end()) return true;
      ScopePair& pair = pairs[found->second];
      name = pair.to;
      if (!name.empty() && !rest.empty()) name += '/';
      name += rest;
      const NodeId partner = names_after.find(name);
      if (partner != kNoNode && is_added.has(partner)) pair.nodes.emplace_back(id, partner);
      return false;
    });
  }
  std::erase_if(pairs, [&](const ScopePair& pair) { return pair.nodes.size() != from.at(pair.from).count; });
  return pairs;
}

}  // namespace gedit
