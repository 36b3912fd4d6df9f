// Definitions of ops, each parsed once.
#pragma once

#include <string_view>
#include <unordered_map>

#include "ops/registry.h"

namespace gedit {

class OpDefs {
 public:
  explicit OpDefs(Registry& ops) : ops_(ops) {}

  // Null where it is unknown. Stays valid; the text of `op` outlives this.
  const OpDef* find(std::string_view op) {
    const auto [found, fresh] = defs_.try_emplace(op);
    if (const std::string_view definition = fresh ? ops_.find(op) : std::string_view(); !definition.empty())
      found->second = parse_op_def(definition);
    return found->second.name.empty() ? nullptr : &found->second;
  }

 private:
  Registry& ops_;
  std::unordered_map<std::string_view, OpDef> defs_;
};

}  // namespace gedit
