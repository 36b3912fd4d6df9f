// The body of one function with constants for the handles of variables: docs/rules.md#freeze-functions.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "edit/functions/freeze_graph.h"
#include "edit/functions/late_reads.h"

namespace gedit {

struct FunctionToFreeze {
  std::string_view function_def;
  std::string_view new_name;
  const std::map<uint32_t, Carried>& arguments;  // that are handles, by number
  Registry& ops;
  const std::shared_ptr<Arena>& arena;
  // The TensorProto of a variable that the function holds itself, by its VarHandleOp.
  const std::function<std::string(std::string_view node_def)>& value;
  // The function with constants for these arguments, which the body calls.
  std::function<FrozenFunction(std::string_view function, const std::map<uint32_t, Carried>& arguments)>
      specialise;
  std::function<bool(std::string_view op)> is_function;
};

struct FrozenBody {
  std::string function_def;
  std::map<uint32_t, Carried> results;  // what it returns that was a handle, by output
  std::vector<std::string> writers;     // nodes that are gone, as `FUNCTION//node`
  std::set<uint32_t> written;           // arguments that the original writes, here or in what it calls
  std::vector<LateRead> late_reads;
};

// Throws Error (kRefused) where the function does what no constant can.
FrozenBody freeze_body(const FunctionToFreeze& function);

}  // namespace gedit
