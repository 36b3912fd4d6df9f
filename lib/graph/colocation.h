// `_class`, the attribute by which a node is to stay with others: a list of `loc:@node`
// (docs/tensorflow.md#attributes-that-hold-names).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gedit {

// How an entry of `_class` names a node. What is behind it; nothing where the entry names none.
constexpr std::string_view kColocatedWith = "loc:@";
inline std::optional<std::string_view> colocated_with(std::string_view entry) {
  if (!entry.starts_with(kColocatedWith)) return std::nullopt;
  return entry.substr(kColocatedWith.size());
}

// False where find_attr() of `_class` finds nothing, told by a look at the keys of attributes alone. What is
// not laid out as every writer lays it out may have it.
bool may_have_class(std::string_view node_def);

// The NodeDef without the entries of `_class` that name a node of which goes(name) is true, and without
// `_class` where none is left; nothing where all entries stay.
std::optional<std::string> without_colocations(std::string_view node_def,
                                               const std::function<bool(std::string_view)>& goes);
// Which of nodes 0 to `count` that changes, each with what is left of it. Of those that are not to be looked
// at node_def(number) is empty. Both are asked on all cores.
std::vector<std::pair<uint32_t, std::string>> shrunk_colocations(
    uint32_t count, const std::function<std::string_view(uint32_t)>& node_def,
    const std::function<bool(std::string_view)>& goes);

}  // namespace gedit
