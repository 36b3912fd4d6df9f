// Functions for constants in place of variables' handles: docs/rules.md#freeze-functions.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "edit/functions/freeze_body.h"
#include "graph/library.h"

namespace gedit {

class FunctionFreezing {
 public:
  // Both outlive it.
  // `value` gives the TensorProto of a variable that a function holds itself, by its VarHandleOp.
  using OwnValue = std::function<std::string(std::string_view node_def)>;
  FunctionFreezing(const Library& library, Registry& ops, std::shared_ptr<Arena> arena, OwnValue value);

  // The function with the values of variables for these arguments: a copy NAME_frozen, one for each set of
  // arguments. Throws Error (kRefused) where that cannot be.
  FrozenFunction specialise(std::string_view name, const std::map<uint32_t, Carried>& arguments);

  // The same for a function that is passed no handle: variables that it holds itself become Consts in it.
  // These weights are in memory, since a library is.
  void freeze_own(size_t function);

  bool is_function(std::string_view op) const { return by_name_.contains(op); }

  // The FunctionDefs that were made, each behind the one that it was made of.
  std::string library() const;
  bool empty() const { return made_.empty(); }

  // Nodes inside that wrote variables and are gone, as `FUNCTION//node`.
  const std::vector<std::string>& writers() const { return writers_; }
  // What reads the values that they wrote.
  const std::vector<LateRead>& late_reads() const { return late_reads_; }

 private:
  struct Made {
    FrozenFunction function;
    size_t original;  // by position in the library
    std::string function_def;
    bool done = false, in_place = false;
  };
  void make(Made& made, const std::map<uint32_t, Carried>& arguments);

  const Library& library_;
  Registry& ops_;
  std::shared_ptr<Arena> arena_;
  std::unordered_map<std::string_view, size_t> by_name_;
  std::set<std::string, std::less<>> names_;
  OwnValue value_;
  std::map<std::string, Made> made_;  // by original and arguments; without any it takes the original's place
  std::vector<std::string> writers_;
  std::vector<LateRead> late_reads_;
  int depth_ = 0;
};

}  // namespace gedit
