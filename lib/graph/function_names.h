// Where functions are named: by nodes, by FunctionDefs, beside them in their library. Who follows calls,
// counts users or renames asks here; what names functions around a graph is in model/calls.h.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/library.h"
#include "graph/name_attr_list.h"

namespace gedit {

// Calls use(name) for every name that may be a function's: the op of the node, and the functions in its
// attributes, at any depth.
template <typename Use>
void each_function_named(std::string_view node_def, Use use) {
  use(node_op(node_def));
  each_attr(node_def, [&](std::string_view, std::string_view value) { each_function(value, use); });
}

// The same for a FunctionDef: what its nodes name, its attributes, and the function that is its gradient's or
// of which it is the gradient's. Names lie in it or in `arena`.
template <typename Use>
void each_function_named_in(std::string_view function_def, Arena& arena, Use use);

// The same for the GradientDefs and RegisteredGradients of a library, which name what they belong to as well.
template <typename Use>
void each_function_named_by_gradients(const Library& library, Use use);

// The function that a call node calls: `f` of a PartitionedCall or StatefulPartitionedCall, else its op.
std::string_view called_function(std::string_view node_def);

// Finds the functions that are called, directly or by way of others: as the op of a node, in its attributes,
// as the gradient of a function that is called.
//   FunctionReach reach(library); reach.calls_of(node_def) for each node; reach.call(name); reach.follow();
// The library outlives it. Costs the nodes of the functions that are reached.
class FunctionReach {
 public:
  explicit FunctionReach(const Library& library);

  void call(std::string_view function);
  void calls_of(std::string_view node_def);  // the functions that the node names

  // Goes on from what was called so far until nothing is added.
  void follow();
  bool reached(size_t function) const { return reached_[function]; }  // by position in the library

 private:
  const Library& library_;
  std::unordered_map<std::string_view, size_t> by_name_;
  std::unordered_multimap<std::string_view, std::string_view> gradients_;  // GradientDef
  std::unordered_map<std::string_view, std::string_view> registered_;  // RegisteredGradient, by its op type
  std::vector<bool> reached_;
  std::vector<size_t> stack_;
};

// The nodes that name each function of a library, in the main graph and in the functions. Built once, from
// all nodes; bodies get decoded. Graph and library outlive it and do not change while it is asked.
class FunctionUsers {
 public:
  static constexpr size_t kMainGraph = SIZE_MAX;  // in place of a function
  struct User {
    size_t function;  // in whose body the node stands
    NodeId node;
  };

  FunctionUsers(const Graph& main, Library& library);

  // One for each time that a node names the function, those of the main graph last.
  const std::vector<User>& of(size_t function) const { return users_[function]; }

  // Calls use(position in the library) for every function there that the node names.
  template <typename Use>
  void each_named(std::string_view node_def, Use use) const {
    each_function_named(node_def, [&](std::string_view name) {
      if (const auto found = by_name_.find(name); found != by_name_.end()) use(found->second);
    });
  }

 private:
  std::unordered_map<std::string_view, size_t> by_name_;
  std::vector<std::vector<User>> users_;
};

// The functions that hold an op of the wanted kind, or call one that does.
std::unordered_set<std::string_view> functions_with(const Library& library,
                                                    const std::function<bool(std::string_view)>& wanted);

// The library of the functions that `reach` has; gradients go with the functions that they name. The bytes of
// what stays are as they were, but for the names of forward and backward functions that are gone.
std::string reduced_library(const Library& library, const FunctionReach& reach);

// Puts every function name in the library through the mapping: definitions, calls in bodies, function
// attributes, gradients.
std::string map_library(std::string_view library, const Mapping& mapping);

// ---------------------------------------------------------------------------------------------------------------------

// The attribute of a FunctionDef is a string that names the function that is its gradient's, or of which it
// is the gradient's.
inline bool names_other_pass(std::string_view key) {
  return key == "forward_function_name" || key == "backward_function_name";
}

// Whether this is a function's name: field `number` of a GradientDef {function_name, gradient_func} or
// RegisteredGradient {gradient_func, registered_op_type}, which is field `item` of a library.
inline bool gradient_names_function(uint32_t item, uint32_t number) {
  return item == library_field::kGradient ? number == 1 || number == 2
                                          : item == library_field::kRegisteredGradient && number == 1;
}

template <typename Use>
void each_function_named_in(std::string_view function_def, Arena& arena, Use use) {
  for (Fields fields(function_def); fields.next();) {
    if (fields->bytes(function_field::kNode)) each_function_named(once_each(fields->value, arena), use);
    if (!fields->bytes(function_field::kAttr)) continue;
    const MapEntry entry = map_entry(fields->value);
    each_function(entry.value, use);
    if (names_other_pass(entry.key)) use(last_bytes(entry.value, attr_field::kString));
  }
}

template <typename Use>
void each_function_named_by_gradients(const Library& library, Use use) {
  for (const Library::Item& item : library.items) {
    if (item.field != library_field::kGradient && item.field != library_field::kRegisteredGradient) continue;
    for (Fields fields(item.content()); fields.next();) {
      if (fields->wire == Wire::kBytes && gradient_names_function(item.field, fields->number))
        use(fields->value);
    }
  }
}

}  // namespace gedit
