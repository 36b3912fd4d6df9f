// The function library of a graph (tensorflow/core/framework/function.proto), viewed.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"

namespace gedit {

namespace library_field {  // FunctionDefLibrary
constexpr uint32_t kFunction = 1, kGradient = 2, kRegisteredGradient = 3;
}
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
    uint32_t field;        // of library_field; 0 or others: unknown
    std::string_view raw;  // with tag and length
    size_t function = 0;   // of a function: index into functions

    std::string_view content() const { return record_at(raw.data()).node_def; }  // of one that is known
  };
  std::vector<Item> items;  // in file order
  std::vector<Function> functions;

  // Views into `library`, which outlives it, as `arena` does.
  static Library decode(std::string_view library, const std::shared_ptr<Arena>& arena);

  // The first of that name, or null.
  Function* find(std::string_view name);
  // Behind all others. The reference holds until the next one is added.
  Function& add(const std::string& function_def, const std::shared_ptr<Arena>& arena);
  // As it is to be written, with tag and length; `made` keeps what was edited.
  std::string_view field(const Item& item, Arena& made) const;
  std::string encode() const;

 private:
  std::unordered_map<std::string_view, size_t> places_;  // of functions, as far as somebody looked for one
  size_t looked_at_ = 0;
};

// The FunctionDefs of a FunctionDefLibrary by their names, of each the first. Views into `library`.
using FunctionDefs = std::unordered_map<std::string_view, std::string_view>;
FunctionDefs function_defs(std::string_view library);

// Serialized OpDef of the function, and names in it.
std::string_view function_signature(const Graph& body);
std::string_view function_name(std::string_view function_def);
std::vector<std::string_view> argument_names(std::string_view signature);  // of the signature's inputs

// Calls use(node_def) for every node of a FunctionDef, as Graph::bytes() gives it: it lies there or in
// `arena`.
template <typename Use>
void each_node_in(std::string_view function_def, Arena& arena, Use use) {
  for (Fields fields(function_def); fields.next();) {
    if (fields->bytes(function_field::kNode)) use(once_each(fields->value, arena));
  }
}

// Calls use(function_name, node_def) for every node in the bodies of a FunctionDefLibrary, as each_node_in().
template <typename Use>
void each_body_node(std::string_view library, Arena& arena, Use use) {
  for (Fields functions(library); functions.next();) {
    if (!functions->bytes(library_field::kFunction)) continue;
    const std::string_view name = function_name(functions->value);
    each_node_in(functions->value, arena, [&](std::string_view node_def) { use(name, node_def); });
  }
}

}  // namespace gedit
