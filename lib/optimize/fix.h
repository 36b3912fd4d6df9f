// Tensors that become constants because a user, or what they are for, says their value
// (docs/rules.md#optimize-fix).
#pragma once

#include <string>
#include <vector>

#include "optimize/optimize.h"

namespace gedit::optimizing {

struct Fixed {
  std::vector<GivenValue> given;
  std::vector<std::string> notes;
  std::vector<std::string> tensors;  // canonical: `x` for output 0
};

// `fixes`: T=VALUE as a listing writes it, and `auto`. Throws Error (kUsage, kRefused).
Fixed fix(Model& model, Registry& ops, Subject& subject, Classes& classes,
          const std::vector<std::string>& fixes);

}  // namespace gedit::optimizing
