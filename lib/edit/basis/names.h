// Names for the nodes that an edit adds to a graph.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include "base/error.h"
#include "base/first_free.h"
#include "graph/names.h"

namespace gedit {

// `'in it': not a node name (character 3, ' ')`, for a name that invalid_name_at() finds fault with.
Error not_a_node_name(std::string_view name);

// Whether any node's name begins so. On all cores.
bool any_name_begins(const Graph& graph, std::string_view with);

// Knows the names of a graph (which outlives it) and those it gave away.
class NewNames {
 public:
  explicit NewNames(const Names& names) : names_(names) {}

  // A name that is no node's but taken all the same: an argument of a function.
  void reserve(std::string_view name) { given_.emplace(name); }

  // `name` itself. Throws Error (kRefused) with the hint where it is taken or is no node name.
  std::string exactly(std::string name, std::string_view hint);

  // The first of `base`, `base_1`, `base_2`, ... that is free.
  std::string free(std::string_view base);

 private:
  bool taken(const std::string& name) const { return names_.find(name) != kNoNode || given_.contains(name); }

  const Names& names_;
  std::unordered_set<std::string> given_;
  FreeNames free_names_;
};

}  // namespace gedit
