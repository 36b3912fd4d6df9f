// Two nodes compared as TensorFlow would see them, and two lists of nodes matched by name.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "diff/diff.h"
#include "graph/graph.h"
#include "graph/mapping.h"
#include "graph/names.h"
#include "ops/registry.h"

namespace gedit {

class NodeComparison {
 public:
  NodeComparison(Registry& before, Registry& after, const DiffOptions& options)
      : before_(before), after_(after), options_(options) {}

  // What differs, in words; nothing where it is the same node. `body`: the nodes are of functions.
  std::vector<std::string> differences(std::string_view before, std::string_view after, bool body);

 private:
  // Default values of an op's attributes, by op and attribute; views into the definition.
  using Defaults = std::unordered_map<std::string_view, std::string_view>;
  using KnownDefaults = std::unordered_map<std::string_view, Defaults>;
  static const Defaults& defaults(Registry& ops, std::string_view op, KnownDefaults& known);

  Registry& before_;
  Registry& after_;
  KnownDefaults defaults_before_, defaults_after_;
  const DiffOptions& options_;
};

// Whether the attribute is not to be compared.
bool is_ignored(const DiffOptions& options, std::string_view key);
// Whether the attribute is about a node rather than about what it does: `_*`, and `debug_name`.
bool is_annotation(std::string_view key);
// Whether it alone tells nothing apart.
bool is_minor(const DiffOptions& options, std::string_view key);

// Whether two AttrValues say the same: the same bytes, or the same line of a listing.
bool same_value(std::string_view before, std::string_view after);
std::string value_text(std::string_view attr_value);

// Nodes of one name stand side by side; of several with one name the first with the first.
struct Matched {
  std::vector<NodeId> partner;  // for each node of `before`: its node in `after`, or kNoNode
  std::vector<NodeId> added;    // nodes of `after` without one
};
Matched match_nodes(const Graph& before, const Graph& after, const Names& names_after);

}  // namespace gedit
