// How a rename writes nodes, and what names them elsewhere (docs/rules.md#rename-what-follows).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/text_search.h"
#include "edit/changing/rename_rules.h"
#include "graph/mapping.h"
#include "model/references.h"

namespace gedit {

// Nodes follow the rules, functions their table.
class RenameMapping final : public Mapping {
 public:
  // `body`: of nodes in a function, whose inputs read `node:output:0`, or one of `arguments`, which stay.
  // `owned`: SharedState::owned of the graph.
  RenameMapping(RenameRules rules, std::unordered_map<std::string, std::string> functions, bool body,
                std::set<std::string, std::less<>> owned = {},
                std::set<std::string, std::less<>> arguments = {});

  void node(std::string_view name, std::string& out) const override;
  bool input(const NodeHead& reader, std::string_view input, std::string& out) const override;
  void identity(const NodeHead& holder, Role role, std::string_view value, std::string& out) const override;
  void frame(std::string_view value, std::string& out) const;
  // What the node of that name is known by afterwards, where it was known by `value`.
  void shared_name(std::string_view node, std::string_view value, std::string& out) const;
  // Whether frames may come to have one name.
  bool moves_frames() const { return !prefix_ && !rules_.only_nodes(); }
  void function(std::string_view name, std::string& out) const override;
  bool maps_functions() const override { return !functions_.empty(); }
  const Prefixing* prefixing(NodeId /*id*/) const override {
    return prefix_ && !body_ && functions_.empty() && owned_.empty() ? &prefixing_ : nullptr;
  }
  bool leaves(std::string_view node_def) const override;

 private:
  bool is_renamed(std::string_view node) const { return rules_.new_name(node) != nullptr; }
  void search_for_names();
  bool may_mention(std::string_view node_def) const;

  RenameRules rules_;
  std::unordered_map<std::string, std::string> functions_;
  std::set<std::string, std::less<>> owned_, arguments_;
  std::optional<std::string> prefix_;
  Prefixing prefixing_;
  bool body_;
  bool only_nodes_;                   // of the main graph
  std::vector<TextSearch> searches_;  // for each of a few names; else none
};

// The names in the messages around a graph.
class RenamedAround final : public NameMap {
 public:
  explicit RenamedAround(const RenameMapping& mapping) : mapping_(mapping) {}
  bool map(NameKind kind, std::string_view name, std::string& out) const override;

 private:
  const RenameMapping& mapping_;
};

}  // namespace gedit
