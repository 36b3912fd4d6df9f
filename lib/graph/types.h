// The dtypes of a node's inputs and outputs, by what is known of its op (docs/rules.md#types).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dtype.h"
#include "graph/node.h"
#include "ops/registry.h"

namespace gedit {

// One entry per tensor; references are reference types. Nothing where the op is unknown or an attribute that
// decides is missing. kInvalid stands for a tensor whose type attribute is not there.
std::optional<std::vector<DType>> output_types(Registry& ops, std::string_view node_def);
std::optional<std::vector<DType>> input_types(Registry& ops, std::string_view node_def);

// The same into a vector that is used again, for an op whose definition is parsed already; false where an
// attribute that decides is missing, or stands for the caller's of a function.
bool output_types(const OpDef& op, std::string_view node_def, std::vector<DType>& found);
bool input_types(const OpDef& op, std::string_view node_def, std::vector<DType>& found);

// The type of one output, kInvalid where it is not known or there is no such output.
DType output_type(Registry& ops, std::string_view node_def, size_t index);
DType output_type(const OpDef& op, std::string_view node_def, size_t index);
// How many output_types() gives, without a look at each.
std::optional<size_t> output_count(Registry& ops, std::string_view node_def);
std::optional<size_t> output_count(const OpDef& op, std::string_view node_def);

// Names of the outputs inside a function body: `output` of list size n counts n times: {"y", 0}, {"y", 1}.
struct OutputName {
  std::string_view arg;
  uint32_t index;
};
std::optional<std::vector<OutputName>> output_names(Registry& ops, std::string_view node_def);
bool output_names(const OpDef& op, std::string_view node_def, std::vector<OutputName>& found);

// `node_def` with these appended to its attribute `key`, a list(type).
std::string with_types(std::string_view node_def, std::string_view key, const std::vector<DType>& types);

// Whether a tensor of type `from` may feed an input of type `to`: equal, or a reference where its base is
// read. Unknown types (kInvalid) fit all. (common_runtime/graph_constructor.cc, TypesCompatible)
bool fits(DType from, DType to);

// Shape of a tensor: nothing for unknown rank, -1 for an unknown dimension.
using Shape = std::optional<std::vector<int64_t>>;

// Whether one tensor can have both shapes: no dimension that both know differs
// (TensorShape.is_compatible_with).
bool compatible(const Shape& a, const Shape& b);

// Serialized TensorShapeProto.
Shape parse_shape_proto(std::string_view proto);
std::string shape_proto(const Shape& shape);
// `[?,224,3]`, empty for unknown rank.
std::string shape_text(const Shape& shape);

// Shape of output `index` from `_output_shapes`, or the node's own attribute (Placeholder, variable, Const).
Shape output_shape(std::string_view node_def, uint32_t index);
// Of all outputs that have one, in one pass.
std::vector<Shape> output_shapes(std::string_view node_def);

}  // namespace gedit
