// Which nodes a copy takes: command_reference, copy, rules 1 to 6.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "edit/copy.h"
#include "edit/facts.h"
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

CopySelection select_for_copy(Facts& facts, const CopyRequest& request);

}  // namespace gedit
