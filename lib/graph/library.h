// The function library of a graph (tensorflow/core/framework/function.proto), viewed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace gedit {

namespace function_field {  // FunctionDef
constexpr uint32_t kSignature = 1, kNode = 3, kRet = 4, kAttr = 5, kControlRet = 6;
}

struct Function {
  std::string_view name;
  Graph body;  // its nodes, and the other fields of the FunctionDef as parts
};

// A FunctionDefLibrary taken apart; an edit changes bodies or parts and encodes it again.
struct Library {
  struct Item {
    uint32_t field;        // 1: a function, 2: GradientDef, 3: RegisteredGradient, others unknown
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

// Puts every function name in the library through the mapping: definitions, calls in bodies, function
// attributes, gradients.
std::string map_library(std::string_view library, const Mapping& mapping);

}  // namespace gedit
