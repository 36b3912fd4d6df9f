// Calls give way to what they call, and functional control flow to that of version 1
// (docs/rules.md#inlined-calls).
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/library.h"
#include "model/model.h"
#include "ops/kinds.h"
#include "ops/registry.h"

namespace gedit {

// Functional control flow, and with it all that calls by an attribute what a graph itself could hold.
constexpr OpKinds kFunctionalFlow = OpKinds(OpKind::kIf) | OpKind::kCase | OpKind::kWhile;
constexpr OpKinds kUnfolding = kFunctionalFlow | OpKind::kLocalCall;

struct InlineRequest {
  // Which calls, If, Case and While, by their NodeDef; null: all.
  std::function<bool(std::string_view node_def)> wanted;
  bool lower = false;      // If, Case and While as well, as Switch, Merge and a loop's frame
  bool insistent = false;  // what asks to stay a call, too: `_noinline`, XLA's, functions with a gradient
  // Nodes, tensors of them and `^nodes` of the graph that are named from outside; null: none.
  const std::set<std::string, std::less<>>* named = nullptr;
};

struct InlineResult {
  uint64_t calls = 0, conds = 0, loops = 0;               // that are gone, in bodies, too
  uint64_t functions = 0;                                 // that nothing calls any more, and are gone
  std::vector<std::pair<std::string, std::string>> kept;  // calls that were wanted, and why they stay

  bool any() const { return calls + conds + loops > 0; }
};

// In a main graph and in the bodies of all functions that are left: node n of the function that call c calls
// becomes `c/n`. Functions that only inlined calls reached go. Linear in what there is afterwards. Throws
// Error (kRefused) where that has no end in sight, Malformed.
InlineResult inline_functions(MetaGraph& meta, Registry& ops, const InlineRequest& request);

}  // namespace gedit
