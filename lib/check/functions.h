// Rule function: calls of library functions, and what the functions give back.
#pragma once

#include <string_view>
#include <unordered_map>

#include "check/checked_graph.h"
#include "graph/library.h"
#include "model/captured_tensors.h"

namespace gedit {

// What functions take and give, by name. A type that an attribute decides is kInvalid; `counted` is false
// where an attribute decides how many tensors there are.
struct FunctionTypes {
  std::vector<DType> inputs, outputs;
  bool counted = true;
};
using Functions = std::unordered_map<std::string_view, FunctionTypes>;
Functions functions_of(const Library& library);

// That the functions named in the attributes of a node are there, and take and give what the node says.
void check_calls(const CheckedGraph& in, NodeId id, const Attrs& attrs, const Functions& functions,
                 Report& report);

// That every output of the function is what its signature says; that control outputs are nodes.
void check_returns(const CheckedGraph& in, std::string_view function, Report& report);

// That what the object graph says that the function's gradient captured is in it.
void check_captured(const CheckedGraph& in, std::string_view function, const CapturedTensors& captured,
                    Report& report);

// That gradients name functions that are there.
void check_gradients(const Library& library, const Functions& functions, Report& report);

}  // namespace gedit
