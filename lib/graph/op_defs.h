// Definitions of ops, each parsed once.
#pragma once

#include <string>
#include <string_view>

#include "base/by_text.h"
#include "ops/registry.h"

namespace gedit {

class OpDefs {
 public:
  explicit OpDefs(Registry& ops) : ops_(ops) {}

  // Null where it is unknown. Stays valid.
  const OpDef* find(std::string_view op) {
    auto found = defs_.find(op);
    if (found == defs_.end()) {
      found = defs_.emplace(std::string(op), OpDef()).first;
      if (const std::string_view definition = ops_.find(op); !definition.empty())
        found->second = parse_op_def(definition);
    }
    return found->second.name.empty() ? nullptr : &found->second;
  }

 private:
  Registry& ops_;
  ByText<OpDef> defs_;
};

}  // namespace gedit
