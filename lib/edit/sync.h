// gedit sync: an operation that brings the variables of one scope up to date with those of another.
#pragma once

#include <optional>
#include <string>

#include "edit/basis/changes.h"
#include "model/model.h"
#include "ops/registry.h"

namespace gedit {

struct SyncRequest {
  std::string from_scope, to_scope;  // SRC and DST; empty: the whole graph
  std::string name;                  // of the operation; empty: DST/sync
  std::optional<double> tau;         // DST := tau * SRC + (1 - tau) * DST; 0 < tau <= 1
  bool all = false;                  // every variable of DST, not only the trainable ones
};

// Appends the operation and what it runs to the selected MetaGraph; nothing else changes. Throws Error
// (kUsage, kRefused), the model being as it was.
Changes sync(Model& model, Registry& ops, const SyncRequest& request);

}  // namespace gedit
