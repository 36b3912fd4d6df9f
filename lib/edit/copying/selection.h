// Which nodes a copy takes: docs/rules.md#copy-selection.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "edit/basis/facts.h"
#include "edit/copying/request.h"
#include "select/tensors.h"

namespace gedit {

struct CopySelection {
  NodeSet nodes;
  std::unordered_set<TensorRef, TensorHash> cuts;                // of --inputs, and KEYs
  std::vector<TypedTensor> inputs;                               // as asked for
  std::unordered_map<TensorRef, TypedTensor, TensorHash> typed;  // stated types of cut tensors
  std::vector<std::pair<TensorRef, std::string>> input_map;      // KEY, VALUE as written (canonical name)
  NodeSet shared;
};

// The function in whose body all of the request lies, empty for the main graph. Throws Error (kRefused) where
// it spreads over several.
std::string function_of(Model& model, Registry& ops, const CopyRequest& request);

CopySelection select_for_copy(Facts& facts, const CopyRequest& request);

}  // namespace gedit
