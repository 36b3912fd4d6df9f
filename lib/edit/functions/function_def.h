// Changes to a FunctionDef: its name, its arguments, its outputs, its attributes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/dtype.h"
#include "graph/library.h"
#include "ops/registry.h"

namespace gedit {

namespace op_def_field {  // OpDef and OpDef.ArgDef
constexpr uint32_t kName = 1, kInput = 2, kOutput = 3, kStateful = 17, kControlOutput = 20;
constexpr uint32_t kArgName = 1, kArgType = 3, kArgHandleData = 7;
}  // namespace op_def_field
namespace function_field {
constexpr uint32_t kArgAttr = 7;  // map: number of the argument -> its attributes
constexpr uint32_t kUniqueId = 8;
}  // namespace function_field

// `message` with the content of every field `number` of kind bytes replaced by what use(content) gives.
template <typename Use>
std::string with_each(std::string_view message, uint32_t number, Use use) {
  std::string out;
  for (Fields fields(message); fields.next();) {
    if (fields->bytes(number)) {
      append_bytes_field(out, number, use(fields->value));
    } else {
      out += fields->raw;
    }
  }
  return out;
}

std::string with_function_name(std::string_view function_def, std::string_view name);

// The first arguments and outputs in another order: at place k stands what stood at inputs[k]. What counts
// arguments follows.
std::string with_order(std::string_view function_def, const std::vector<size_t>& inputs,
                       const std::vector<size_t>& outputs);

// One output more, behind the others; `source` is what the body returns there.
std::string with_output(std::string_view function_def, std::string_view name, DType type,
                        std::string_view source);

// Without the attributes by which TensorFlow takes another function for this one: one that has another
// signature now.
std::string without_alternatives(std::string_view function_def);

// The first of base, base_1, ... that is no function and no op.
std::string free_function_name(const Library& library, Registry& ops, std::string_view base);

// A name for an argument or output: lower case letters, digits and `_`, a letter first.
std::string argument_name(std::string_view text);

}  // namespace gedit
