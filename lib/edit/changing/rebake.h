// Constants with other sizes in them (docs/rules.md#set-baked-constants).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "edit/changing/baked_sizes.h"

namespace gedit {

// The Reshapes whose shape the node's value becomes part of; nothing where it becomes something else, too.
std::optional<std::set<NodeId>> reshapes_of(const BakedPlace& place, NodeId constant);

// An integer Const of at most one dimension with these elements, all of them.
std::string with_sizes(std::string_view const_node_def, const std::vector<int64_t>& sizes);

// The constant with these entries changed. Nothing where one of them has no number, or where something else
// than the Reshapes that the entries are for reads the constant.
std::optional<std::string> rebaked(const BakedPlace& place, NodeId constant,
                                   const std::vector<BakedEntry>& entries);

// `[1,1001]`, or `1` of a scalar.
std::string sizes_text(std::string_view const_node_def);

}  // namespace gedit
