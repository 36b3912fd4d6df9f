// The commonest edit on the commonest node, fast: a prefix before every name in a small NodeDef.
#pragma once

#include <string>
#include <string_view>

#include "graph/mapping.h"

namespace gedit {

// Longest NodeDef and prefix that prefix_node() takes on, and the room that it needs behind `out` then.
constexpr size_t kMostPrefixed = 4096, kLongestPrefix = 100, kPrefixRoom = size_t{256} << 10;

// Writes `node_def` exactly as map_node() does with a mapping that says `prefixing` of it. Gives the end of
// what was written, null where the node is not of the simple form that nearly all have: fields in order,
// lengths of one byte where a name changes, one colocation. Then nothing counts of what was written.
char* prefix_node(std::string_view node_def, const Prefixing& prefixing, char* out);

}  // namespace gedit
