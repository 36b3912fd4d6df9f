// Faults that TensorFlow would meet at import, restore or run (docs/rules.md#check).
#pragma once

#include <string>
#include <vector>

#include "base/fault.h"
#include "model/model.h"
#include "ops/registry.h"

namespace gedit {

struct CheckRequest {
  std::vector<std::string> fetch;  // tensors or nodes: only what they need is looked at, nothing around it
  bool security = false;           // also the rule unsafe-op
};

// Faults of the MetaGraph `meta` of the model: of its nodes in the order of the file, of functions (subject
// `FUNCTION//node`), of what surrounds the graph. A graph without faults is one that TensorFlow imports. What
// an unknown op takes and gives is not judged. Linear; about a microsecond a node. Throws Error (kRefused)
// where a tensor to fetch is not there, Malformed.
std::vector<Fault> check(Model& model, size_t meta, Registry& ops, const CheckRequest& request);

}  // namespace gedit
