// What the function of a signature takes and returns, as Python sees it: StructuredValue
// (tensorflow/core/protobuf/struct.proto) and the FunctionSpec made of it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/types.h"

namespace gedit {

// A tensor of a signature by its name there.
struct SignatureTensor {
  std::string key;
  DType type = DType::kInvalid;
  Shape shape;
};

// Old name -> new name, at once.
using NameTable = std::map<std::string, std::string, std::less<>>;
std::string renamed_key(const NameTable& names, std::string_view name);

// Whether Python takes it for the name of an argument; FunctionSpec knows no others.
bool is_identifier(std::string_view name);

// {key: TensorSpec}, as an output_signature, and ((), {key: TensorSpec}), as a canonicalized_input_signature.
std::string tensor_dict(const std::vector<SignatureTensor>& tensors);
std::string tensor_arguments(const std::vector<SignatureTensor>& tensors);
// FunctionSpec of a function that takes these keywords.
std::string function_spec(const std::vector<SignatureTensor>& inputs);

// The same of what is there, with other keys; the tensors that they hold are called so, too.
std::string rename_dict(std::string_view value, const NameTable& names);
std::string rename_arguments(std::string_view value, const NameTable& names);
std::string rename_spec(std::string_view spec, const NameTable& names);

// The keys of either, in the order of the function's arguments or outputs, which is that of the keys; nothing
// where something else than one tensor stands for one of them.
std::optional<std::vector<std::string>> tensor_keys(std::string_view value);

}  // namespace gedit
