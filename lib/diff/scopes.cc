#include "diff/scopes.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

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

// The scopes of one graph that lone nodes lie in, found a level at a time from the outermost on: what has its
// partner is not looked into.
class LoneScopes {
 public:
  struct Scope {
    std::string_view name;
    uint32_t parent;
    uint64_t hash = 0, count = 0;  // of the lone nodes in it
    bool kept = false;             // a node in it has the same name in the other graph
    bool whole = false;            // it has its partner
    bool taken = false;            // it, or a scope in it, has
  };

  LoneScopes(const Graph& graph, const NodeSet& lone) : graph_(graph) {
    for (OpNumber op = 0; op < graph.ops().size(); ++op) op_hashes_.push_back(name_hash(graph.ops().op(op)));
    scopes_.push_back({.name = {}, .parent = 0});
    for (uint32_t i = 0; i < graph.size(); ++i) {
      const NodeId id{i};
      if (graph.removed(id)) continue;
      (lone.has(id) ? lone_ : others_).push_back({id, 0, 0});
      if (lone.has(id)) count(0, graph.hash(id), id);
    }
    scopes_[0].kept = !others_.empty();
  }

  const std::vector<Scope>& scopes() const { return scopes_; }
  bool done() const { return level_ + 1 >= kDeepestScope || lone_.empty(); }

  // The scopes one level further down are there now, behind the others.
  void descend() {
    ++level_;
    std::unordered_map<std::string_view, uint32_t> here;
    std::vector<At> named;  // lone nodes that have no scope of this level, but may be called like one
    const auto is_covered = covered();
    std::string_view last;
    uint32_t last_scope = 0;
    size_t left = 0;
    for (const At& at : lone_) {
      if (is_covered[at.scope]) continue;
      const std::string_view name = graph_.name(at.id);
      const size_t slash = name.find('/', at.rest);
      if (slash == std::string_view::npos) named.push_back(at);
      if (slash == std::string_view::npos || slash + 1 == name.size()) continue;
      const std::string_view scope = name.substr(0, slash);
      if (last_scope == 0 || scope != last) {  // neighbours lie in the same scopes
        const auto [found, fresh] = here.try_emplace(scope, static_cast<uint32_t>(scopes_.size()));
        if (fresh) scopes_.push_back({.name = scope, .parent = at.scope});
        last = scope;
        last_scope = found->second;
      }
      count(last_scope, name_hash(name.substr(slash + 1)), at.id);
      lone_[left++] = {at.id, static_cast<uint32_t>(slash + 1), last_scope};
    }
    lone_.resize(left);
    for (const At& at : named) {
      const auto found = here.find(graph_.name(at.id));
      if (found != here.end()) count(found->second, name_hash({}), at.id);
    }
    keep(here);
  }

  // Whether it may still have a partner: neither a scope in it nor one around it has one.
  bool usable(uint32_t scope) const {
    if (scopes_[scope].kept || scopes_[scope].taken) return false;
    for (uint32_t at = scope; at != 0;) {
      at = scopes_[at].parent;
      if (scopes_[at].whole) return false;
    }
    return true;
  }
  void take(uint32_t scope) {
    scopes_[scope].whole = true;
    for (uint32_t at = scope;; at = scopes_[at].parent) {
      scopes_[at].taken = true;
      if (at == 0) return;
    }
  }

 private:
  struct At {
    NodeId id;
    uint32_t rest;   // where what is below its scope begins in its name
    uint32_t scope;  // of this level
  };

  void count(uint32_t scope, uint64_t rest_hash, NodeId id) {
    const uint64_t op = op_hashes_[graph_.op_number(id)];
    // A sum over the nodes, so that their order does not count.
    scopes_[scope].hash += (rest_hash ^ (op * 0x9e3779b97f4a7c15)) * 0xe7037ed1a0b428db;
    ++scopes_[scope].count;
  }

  // By scope: whether it or one around it has its partner. Outer ones stand before inner ones.
  std::vector<bool> covered() const {
    std::vector<bool> is(scopes_.size());
    for (size_t i = 0; i < scopes_.size(); ++i) is[i] = scopes_[i].whole || (i > 0 && is[scopes_[i].parent]);
    return is;
  }

  // A node that kept its name keeps the scopes it is in, and one that is called as it is.
  void keep(const std::unordered_map<std::string_view, uint32_t>& here) {
    size_t left = 0;
    for (const At& at : others_) {
      const std::string_view name = graph_.name(at.id);
      const size_t slash = name.find('/', at.rest);
      const auto found = here.find(name.substr(0, slash));
      if (found == here.end()) continue;  // nor is any deeper one there
      scopes_[found->second].kept = true;
      if (slash != std::string_view::npos) others_[left++] = {at.id, static_cast<uint32_t>(slash + 1), 0};
    }
    others_.resize(left);
  }

  const Graph& graph_;
  std::vector<uint64_t> op_hashes_;
  std::vector<Scope> scopes_;
  std::vector<At> lone_, others_;
  size_t level_ = 0;
};

// Scopes of two graphs with the same names and ops in them, an outer one before those in it.
class ScopeMatcher {
 public:
  ScopeMatcher(LoneScopes& from, LoneScopes& to) : from_(from), to_(to) {}

  std::vector<std::pair<uint32_t, uint32_t>> run() {
    match(0, 0);
    while (!from_.done() || !to_.done()) {
      const size_t first_from = from_.scopes().size(), first_to = to_.scopes().size();
      in_parallel(2, [&](size_t which) {
        LoneScopes& scopes = which == 0 ? from_ : to_;
        if (!scopes.done()) scopes.descend();
      });
      match(first_from, first_to);
    }
    std::ranges::sort(pairs_);
    return std::move(pairs_);
  }

 private:
  struct Alike {
    std::vector<uint32_t> from, to;  // in order
    size_t next = 0;                 // of `to`: those before have their partner
  };

  // What the scopes from these on bring.
  void match(size_t first_from, size_t first_to) {
    std::vector<uint32_t> candidates;
    for (size_t i = first_to; i < to_.scopes().size(); ++i) {
      if (to_.scopes()[i].kept) continue;
      Alike& alike = alike_[to_.scopes()[i].hash];
      alike.to.push_back(static_cast<uint32_t>(i));
      candidates.insert(candidates.end(), alike.from.begin(), alike.from.end());
      alike.from.clear();
    }
    for (size_t i = first_from; i < from_.scopes().size(); ++i) {
      if (!from_.scopes()[i].kept) candidates.push_back(static_cast<uint32_t>(i));
    }
    std::ranges::sort(candidates);
    for (const uint32_t i : candidates) {
      if (!from_.usable(i)) continue;
      Alike& alike = alike_[from_.scopes()[i].hash];
      while (alike.next < alike.to.size() && !to_.usable(alike.to[alike.next])) ++alike.next;
      if (alike.next == alike.to.size()) {
        alike.from.push_back(i);  // one further down may be like it
        continue;
      }
      const uint32_t partner = alike.to[alike.next];
      if (to_.scopes()[partner].count != from_.scopes()[i].count) continue;
      from_.take(i);
      to_.take(partner);
      pairs_.emplace_back(i, partner);
    }
  }

  LoneScopes &from_, &to_;
  std::unordered_map<uint64_t, Alike> alike_;  // by hash
  std::vector<std::pair<uint32_t, uint32_t>> pairs_;
};

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

bool ScopeMapping::input(const NodeHead& reader, std::string_view input, std::string& out) const {
  if (!body_) return Mapping::input(reader, input, out);
  const Input parsed = parse_body_input(input);
  if (parsed.control) out += '^';
  if (parsed.port.empty() && !parsed.control) {
    names_.map_argument(parsed.node, out);
  } else {
    names_.map(parsed.node, out);
  }
  if (!parsed.port.empty()) out.append(":").append(parsed.port);
  return true;
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

  std::vector<std::pair<uint32_t, uint32_t>> found;
  std::vector<uint64_t> counts;
  {
    std::optional<LoneScopes> from, to;
    in_parallel(2, [&](size_t which) {
      if (which == 0) {
        from.emplace(before, is_removed);
      } else {
        to.emplace(after, is_added);
      }
    });
    for (const auto& [in_from, in_to] : ScopeMatcher(*from, *to).run()) {
      const LoneScopes::Scope& scope = from->scopes()[in_from];
      pairs.push_back({std::string(scope.name), std::string(to->scopes()[in_to].name), {}});
      counts.push_back(scope.count);
    }
  }
  if (pairs.empty()) return pairs;

  // The nodes of a pair, by the rest of their names; equal sums are no proof.
  std::unordered_map<std::string_view, size_t> pair_of;
  for (size_t i = 0; i < pairs.size(); ++i) pair_of.emplace(pairs[i].from, i);
  struct Partner {
    NodeId node = kNoNode;
    size_t pair = 0;
  };
  std::vector<Partner> partners(removed.size());
  in_pieces(removed.size(), [&](size_t, PieceRange nodes) {
    std::string name;
    for (size_t i = nodes.begin; i < nodes.end; ++i) {
      each_scope(before.name(removed[i]), [&](std::string_view scope, std::string_view rest) {
        const auto at = pair_of.find(scope);
        if (at == pair_of.end()) return true;
        name = pairs[at->second].to;
        if (!name.empty() && !rest.empty()) name += '/';
        name += rest;
        const NodeId partner = names_after.find(name);
        if (partner != kNoNode && is_added.has(partner)) partners[i] = {partner, at->second};
        return false;
      });
    }
  });
  for (size_t i = 0; i < removed.size(); ++i) {
    if (partners[i].node != kNoNode) pairs[partners[i].pair].nodes.emplace_back(removed[i], partners[i].node);
  }
  std::vector<ScopePair> whole;
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].nodes.size() == counts[i]) whole.push_back(std::move(pairs[i]));
  }
  return whole;
}

}  // namespace gedit
