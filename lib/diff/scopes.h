// Scopes that have another name in the second graph and the same structure: found by a hash of what is in
// them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/by_text.h"
#include "diff/nodes.h"
#include "graph/edges.h"
#include "graph/mapping.h"
#include "model/references.h"

namespace gedit {

// Names of the first graph as they are in the second.
class RenamedScopes {
 public:
  // Both without slash; an empty one is everything.
  void add(std::string from, std::string to) { scopes_.emplace(std::move(from), std::move(to)); }
  void drop(const std::string& from) { scopes_.erase(from); }
  // A node alone, and what lies below its name is not meant.
  void add_node(std::string from, std::string to) { nodes_.emplace(std::move(from), std::move(to)); }
  void drop_node(const std::string& from) { nodes_.erase(from); }
  void add_function(std::string from, std::string to) { functions_.emplace(std::move(from), std::move(to)); }
  // Of the function whose body is meant.
  void add_argument(std::string from, std::string to) { arguments_.emplace(std::move(from), std::move(to)); }
  bool empty() const { return scopes_.empty() && nodes_.empty() && functions_.empty() && arguments_.empty(); }
  void map(std::string_view name, std::string& out) const;
  void map_function(std::string_view name, std::string& out) const { out += of(functions_, name); }
  void map_argument(std::string_view name, std::string& out) const { out += of(arguments_, name); }

 private:
  // A name's outermost scope decides, found from the front.
  using Names = ByText<std::string>;
  static std::string_view of(const Names& names, std::string_view name) {
    const auto found = names.find(name);
    return found == names.end() ? name : std::string_view(found->second);
  }

  Names scopes_, nodes_, functions_, arguments_;
};

// Nodes of the first graph as they would be in the second: names, frames of renamed scopes, and shared names
// that are the node's own.
class ScopeMapping final : public Mapping {
 public:
  // `body`: the nodes are of a function.
  explicit ScopeMapping(const RenamedScopes& names, bool body = false) : names_(names), body_(body) {}
  void node(std::string_view name, std::string& out) const override { names_.map(name, out); }
  bool input(const NodeHead& reader, std::string_view input, std::string& out) const override;
  void identity(const NodeHead& holder, Role role, std::string_view value, std::string& out) const override;
  void function(std::string_view name, std::string& out) const override { names_.map_function(name, out); }
  bool maps_functions() const override { return true; }

 private:
  const RenamedScopes& names_;
  const bool body_;
};

// The same for what surrounds a graph.
class ScopeNameMap final : public NameMap {
 public:
  explicit ScopeNameMap(const RenamedScopes& names) : names_(names) {}
  bool map(NameKind kind, std::string_view name, std::string& out) const override;

 private:
  const RenamedScopes& names_;
};

// A scope of which no node kept its name, and one of which no node is in the first graph: the same names of
// nodes within, the same ops.
struct ScopePair {
  std::string from, to;
  std::vector<std::pair<NodeId, NodeId>> nodes;
};

// The outermost ones, in the order of the first graph. Linear in the lone nodes times the depth of their
// names, up to 64 levels.
std::vector<ScopePair> find_renamed_scopes(const Graph& before, const Graph& after, const Names& names_after,
                                           const Matched& matched);

}  // namespace gedit
