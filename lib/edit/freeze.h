// gedit freeze: the part of a graph that some tensors need, its variables turned into constants.
#pragma once

#include <string>
#include <vector>

#include "edit/basis/changes.h"
#include "model/model.h"
#include "ops/registry.h"

namespace gedit {

struct FreezeRequest {
  std::vector<std::string> outputs;  // tensors or ops whose closure stays
  std::vector<std::string> inputs;   // where it is cut; T or T:DTYPE[SHAPE]
  std::string signature;             // instead of outputs: those of this signature, and its inputs
  std::string checkpoint;            // where values come from; empty: none was named and none is known
  std::string keep;                  // a selector: variables that stay variables
  bool want_changes = false;         // fill Changes::removed, too
};

struct FreezeResult {
  Changes changes;
  std::vector<std::string> kept_keys;  // of the checkpoint: values of the variables that stay
};

// Reduces the selected MetaGraph. Weights are streamed from the checkpoint when the model is written; they
// are not in memory. Throws Error (kUsage, kRefused, kInput).
FreezeResult freeze(Model& model, Registry& ops, const FreezeRequest& request);

// The checkpoint that belongs to the model: `named` if it is given, a SavedModel's variables, for `x.meta`
// the checkpoint `x` where there is one; else empty.
std::string values_of(const Model& model, const std::string& named);

}  // namespace gedit
