#include "graph/value_read.h"

#include "graph/node.h"

namespace gedit {

std::optional<ValueRead> value_read(std::string_view node_def, DType dtype) {
  const std::string_view op = node_op(node_def);
  const auto as = [&](std::string_view plain_op, std::string_view type_key) {
    return with_attr(without_attr(with_op(node_def, plain_op), "dtype"), type_key, type_value(dtype));
  };
  if (op == "ReadVariableOp") return ValueRead{as("Identity", "T")};
  if (op == "VariableShape") return ValueRead{as("Shape", "T")};
  if (op == "ResourceGatherNd") return ValueRead{as("GatherNd", "Tparams")};
  if (op != "ResourceGather") return std::nullopt;
  std::string gather = without_attr(as("GatherV2", "Tparams"), "validate_indices");
  const DType indices = type_attr(node_def, "Tindices").value_or(DType::kInt32);
  gather = with_attr(with_attr(gather, "Tindices", type_value(indices)), "Taxis", type_value(DType::kInt32));
  return ValueRead{std::move(gather), int_attr(node_def, "batch_dims").value_or(0)};
}

}  // namespace gedit
