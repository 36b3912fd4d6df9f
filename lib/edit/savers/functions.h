// The saver of a TF2 SavedModel: functions that the operations of its saver_def call
// (docs/tensorflow.md#savers-in-functions).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "edit/savers/entries.h"
#include "graph/edges.h"
#include "graph/names.h"
#include "model/model.h"
#include "ops/registry.h"

namespace gedit {

struct SaverFunctions {
  NodeId filename = kNoNode;
  struct Save {
    NodeId call;
    std::string function;
    std::string_view function_def;  // in the MetaGraph
    std::vector<SaverEntry> saved;  // sources as the function reads them
  };
  struct Restore {
    NodeId call;
    std::string function;
    std::string_view function_def;
  };
  std::vector<Save> saves;  // none where the graph itself saves, as gedit merge makes it
  std::vector<Restore> restores;
};

// The calls above saver_def's operations of functions that save or restore; a single call each where
// TensorFlow made them. `producers` is asked for only where a function could be meant. Nothing where no call
// restores.
std::optional<SaverFunctions> find_saver_functions(const MetaGraph& meta, const Names& names,
                                                   const std::function<const Edges&()>& producers);

// The FunctionDef with other keys in the Consts that its Restore nodes read. Throws Error (kRefused) where
// one reads them from elsewhere.
std::string with_restored_keys(std::string_view function_def,
                               const std::function<std::string(const std::string&)>& key);

// Nodes of a function's body once more in the main graph that calls it: those that a value is made of,
// without what only hands values on and without control inputs.
class Inliner {
 public:
  // `arguments`: what the call reads, by argument, as inputs of the main graph. `free_name` gives a new
  // node's name, made of the old one; `add` takes the node.
  Inliner(std::string_view function_def, Registry& ops, const std::vector<std::string>& arguments,
          std::function<std::string(std::string_view)> free_name, std::function<void(std::string)> add);

  // The main graph's input for `value`, an input as the body writes it. Throws Error (kRefused) where it is
  // made in more steps than a saver takes.
  std::string inlined(std::string_view value) { return inlined(value, 0); }

 private:
  std::string inlined(std::string_view value, int depth);

  Registry& ops_;
  Arena made_bytes_;  // of nodes that do not lie in the FunctionDef as they are read
  std::map<std::string, std::string, std::less<>> arguments_;
  struct Made {
    std::string name;
    std::map<std::pair<std::string_view, uint32_t>, uint32_t> outputs;  // its argument and place -> number
  };
  std::unordered_map<std::string_view, std::string_view> nodes_;
  std::unordered_map<std::string_view, Made> made_;  // by the name in the body
  std::function<std::string(std::string_view)> free_name_;
  std::function<void(std::string)> add_;
};

}  // namespace gedit
