// Finds nodes by name. A value that is built from a graph, used and dropped: nothing keeps it up to date.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/name_hash.h"

namespace gedit {

// Where a name is taken apart scope by scope, deeper scopes are not told apart.
constexpr size_t kDeepestScope = 64;

// Eight bytes and about 15 ns a node, shared by all cores. The graph outlives it; mappings are not applied:
// names are as in the records.
class Names {
 public:
  explicit Names(const Graph& graph);

  // The node of that name, the first of several; kNoNode where there is none.
  NodeId find(std::string_view name) const { return find(name, name_hash(name)); }
  NodeId find(std::string_view name, uint64_t hash) const;

  // The node that is called as that one of another graph is. Hardly a name is looked at for which there is
  // none.
  NodeId find_as(const Graph& other, NodeId id) const;
  // Of many that are looked for: what find() sees first is on its way from memory.
  void expect(uint64_t hash) const { __builtin_prefetch(&slots_[hash & mask_]); }

  // Nodes whose name an earlier node has, in order.
  const std::vector<NodeId>& duplicates() const { return duplicates_; }

 private:
  // The slots of one core, and what it found.
  struct Share {
    uint64_t begin = 0, end = 0;
    std::vector<NodeId> duplicates{};
    std::vector<NodeId> left{};  // found no room before the end
  };
  void fill(Share& share);
  // Whether it is there now, or an earlier node of its name is: not where there is no free slot before `end`.
  bool insert(NodeId id, uint64_t end, std::vector<NodeId>& duplicates);
  // Whether a slot may hold what has this hash.
  bool alike(uint32_t slot, uint64_t hash) const {
    return ((slot ^ static_cast<uint32_t>(hash >> 32)) & ~id_mask_) == 0;
  }
  NodeId node(uint32_t slot) const { return NodeId{(slot & id_mask_) - 1}; }

  const Graph& graph_;
  std::vector<uint32_t> slots_;  // id + 1 in as many bits as ids take, above them bits of the hash; 0: free
  uint64_t mask_;
  uint32_t id_mask_;
  std::vector<NodeId> duplicates_;
};

// Whether `name` is the scope `scope` or lies under it.
inline bool in_scope(std::string_view name, std::string_view scope) {
  return name.starts_with(scope) && (name.size() == scope.size() || name[scope.size()] == '/');
}

}  // namespace gedit
