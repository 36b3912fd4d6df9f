// What one TensorFlow release would not take of a graph (docs/rules.md#check-releases).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fault.h"
#include "model/model.h"
#include "ops/history.h"

namespace gedit {

// The release that a user calls `version`. Throws Error (kUsage) where there is none.
ReleaseNumber find_release(std::string_view version);

// Every obstacle, of the main graph and of every function's body, with the rule `tf`: attributes that
// importers drop by the MetaGraph's stripped_op_list are none. Linear, 50 ns a node that the release takes.
std::vector<Fault> release_faults(const MetaGraph& meta, Registry& ops, ReleaseNumber release);

}  // namespace gedit
