// Savers inside functions: a TF2 SavedModel saves and restores by functions that its main graph calls with
// the variables (docs/tensorflow.md#savers-in-functions).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"
#include "graph/library.h"
#include "graph/names.h"
#include "model/model.h"

namespace gedit {

// A tensor that a SaveV2 writes, or a RestoreV2 reads, for an argument of the function: a variable's or a
// table's handle, or the value that is saved, as of tables and in files before TensorFlow 2.11.
struct SavedArgument {
  uint32_t slot = 0;            // among the saved tensors, or the outputs of the restore
  std::string key, slice;       // entries of tensor_names, shape_and_slices
  std::string argument;         // its name; empty: no argument of the function
  std::vector<NodeId> between;  // nodes from the argument to the SaveV2, or from the RestoreV2 to the
                                // assignment or the table's import, which is the last
  uint32_t taken_at = 1;        // then: the input of the last one that takes it
};

struct SaverInFunction {
  NodeId node = kNoNode;  // SaveV2 or RestoreV2
  bool saves = false;
  NodeId names = kNoNode, slices = kNoNode;  // the Consts; kNoNode where it is none
  std::vector<SavedArgument> tensors;
};

// The calls that saver_def's operations are, or group: after a merge one NoOp runs the restore calls of all
// parts. `is_function`: whether the library has a function of that name. `groups` gains the NoOps on the way.
std::vector<NodeId> saver_calls(const MetaGraph& meta, const Names& names,
                                const std::function<bool(std::string_view)>& is_function,
                                std::vector<NodeId>* groups = nullptr);

// By variable node of the main graph, the key that the functions below the saver's restore op assign to it.
// Empty where the restore op is no call and groups none.
std::unordered_map<uint32_t, std::string> keys_in_functions(const MetaGraph& meta, const Names& names,
                                                            Library& library);

// Of the body of a function, decoded.
std::vector<SaverInFunction> savers_in(const Graph& body, const Names& names);

}  // namespace gedit
