// What older releases do otherwise with nodes whose ops they know, which OpDefs do not tell
// (docs/rules.md#retarget-limits).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "edit/retargeting/site.h"
#include "ops/history.h"

namespace gedit {

// Whether a node is one of them: why, a clause, empty where it is none; the node may become another that is
// none.
using Limit = std::string (*)(Site& site);

struct LimitRow {
  std::string_view op, since;  // releases before that
  std::string_view they;       // do that; what a node that can be made another gets
  Limit limit = nullptr;       // null: with every node of the op
  bool shapes = false;         // it asks for them
  std::string_view cast{};     // an attribute: they take it int32 alone, and a Cast stands in front
};

// Those that hold in `release`, for a file that the release `reference` wrote.
std::vector<const LimitRow*> limits_of(std::string_view op, ReleaseNumber release, ReleaseNumber reference);

// What releases without the attribute did, as an AttrValue, where that is not its default; else null.
std::string_view value_before(std::string_view op, std::string_view key);

// An attribute on which no value rests, and with which releases before `since` refuse the node or end.
struct SpoilingRow {
  std::string_view op, key, since;
  bool in_bodies = false;  // in functions alone
};
std::vector<const SpoilingRow*> spoiling_of(std::string_view op, ReleaseNumber release);

// By theme; the table is in limits.cc.
std::string limit_draw_algorithm(Site& site);
std::string limit_list_made(Site& site);
std::string limit_list_rank(Site& site);
std::string limit_list_shape(Site& site);
std::string limit_list_stack(Site& site);

}  // namespace gedit
