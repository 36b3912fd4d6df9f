// What a copy is asked to do, and what became of what.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/copied_value.h"
#include "edit/basis/changes.h"

namespace gedit {

struct CopyRequest {
  // All names of the main graph, or all `FN//node` of one function, in whose body the copies are then made.
  std::vector<std::string> outputs;  // tensors or ops whose closure is copied
  std::vector<std::string> inputs;   // where the closure is cut; T or T:DTYPE[SHAPE]
  std::string select;                // a selector: exactly these, and satellites
  std::string from_scope;
  bool has_from_scope = false;
  std::string scope;
  std::vector<std::string> input_map;  // KEY=VALUE
  bool placeholders = false;
  std::string share;  // a selector
  std::optional<std::string> device;
  std::vector<std::string> stop_gradient;
  bool values = false;      // a checkpoint with the copies' values is written
  bool want_names = false;  // fill CopyChanges::nodes, added and changed, which hold every name
};

// Throws Error (kUsage) where it says too little, or what excludes each other.
void check(const CopyRequest& request);

// The request as it reads inside the function. Throws Error (kRefused) for what no function can have.
CopyRequest within(const CopyRequest& request, const std::string& function);

// What became of what, by name (`FN//node` in a function); tensors as `node:1`, `node` for output 0.
struct CopyChanges : Changes {
  std::string function;  // in whose body the copies are; empty: in the main graph
  std::map<std::string, std::string> nodes, outputs, inputs, variables, keys, frames;
  // Keys of the copies' values in a checkpoint: of the savers, and where no saver has a variable its name.
  // What is in no saver of a graph that has one is in no checkpoint either, and not here.
  std::map<std::string, std::string> values;
  // Of variables that saver_def's saver does not hold, but another: in its own checkpoint, which this one
  // need not be.
  std::map<std::string, std::string> other_values;
  std::vector<CopiedValue> objects;  // of a TF2 SavedModel: the values' objects in the checkpoint
};

}  // namespace gedit
