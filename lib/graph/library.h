// The function library of a graph (tensorflow/core/framework/function.proto), viewed.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"

namespace gedit {

namespace function_field {  // FunctionDef; the last two are maps from the number of an argument
constexpr uint32_t kSignature = 1, kNode = 3, kRet = 4, kAttr = 5, kControlRet = 6, kArgAttr = 7,
                   kUniqueId = 8;
}

struct Function {
  std::string_view name;
  Graph body;  // its nodes, and the other fields of the FunctionDef as parts
};

// A FunctionDefLibrary taken apart; an edit changes bodies or parts and encodes it again.
struct Library {
  struct Item {
    uint32_t field;        // 1: a function, 2: GradientDef, 3: RegisteredGradient, 0 or others: unknown
    std::string_view raw;  // with tag and length
    size_t function = 0;   // field 1: index into functions
  };
  std::vector<Item> items;  // in file order
  std::vector<Function> functions;

  // Views into `library`, which outlives it, as `arena` does.
  static Library decode(std::string_view library, const std::shared_ptr<Arena>& arena);

  Function* find(std::string_view name);
  // Behind all others. The reference holds until the next one is added.
  Function& add(const std::string& function_def, const std::shared_ptr<Arena>& arena);
  std::string encode() const;
};

// Serialized OpDef of the function, and names in it.
std::string_view function_signature(const Graph& body);
std::string_view function_name(std::string_view function_def);
std::vector<std::string_view> argument_names(std::string_view signature);  // of the signature's inputs

// Calls use(function_name, node_def) for every node in the bodies of a FunctionDefLibrary.
template <typename Use>
void each_body_node(std::string_view library, Use use) {
  for (Fields functions(library); functions.next();) {
    if (!functions->bytes(1)) continue;
    const std::string_view name = function_name(functions->value);
    for (Fields fields(functions->value); fields.next();) {
      if (fields->bytes(function_field::kNode)) use(name, fields->value);
    }
  }
}

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

// The library of the functions that `reach` has; gradients go with the functions that they name. The bytes of
// what stays are as they were, but for the names of forward and backward functions that are gone.
std::string reduced_library(const Library& library, const FunctionReach& reach);

// Puts every function name in the library through the mapping: definitions, calls in bodies, function
// attributes, gradients.
std::string map_library(std::string_view library, const Mapping& mapping);

}  // namespace gedit
