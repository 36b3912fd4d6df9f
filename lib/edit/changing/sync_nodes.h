// The nodes that `gedit sync` adds: reads, the arithmetic of --tau, assignments (docs/rules.md#sync).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edit/basis/facts.h"
#include "edit/basis/names.h"
#include "edit/changing/sync_pairs.h"

namespace gedit {

class SyncNodes {
 public:
  // `names`: of the graph and of what is added. Where `tau` is given, floating variables move that much of
  // the way.
  SyncNodes(const Facts& facts, NewNames& names, std::string operation, std::optional<double> tau)
      : facts_(facts), names_(names), operation_(std::move(operation)), tau_(tau) {}

  void add_assign(const SyncPair& pair);
  void add_group(const std::vector<SyncPair>& pairs);

  // In the order in which they are to stand in the graph.
  std::vector<std::string> take() { return std::move(nodes_); }

 private:
  std::string_view bytes(NodeId id) const { return facts_.graph().bytes(id); }
  std::string_view op(NodeId id) const { return node_op(bytes(id)); }
  bool is_resource(NodeId id) const;
  std::string read_of(NodeId variable, const std::string& below);
  const std::pair<std::string, std::string>& factors(DType type);
  std::string binary(const std::string& name, std::string_view op, const SyncPair& pair, const std::string& a,
                     const std::string& b);
  std::string value_for(const SyncPair& pair);
  std::string own_bytes(const SyncPair& pair, const std::string& source);

  const Facts& facts_;
  NewNames& names_;
  const std::string operation_;
  const std::optional<double> tau_;
  std::map<DType, std::pair<std::string, std::string>> factors_;
  std::vector<std::string> nodes_;
};

}  // namespace gedit
