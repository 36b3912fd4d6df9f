// TensorInfo, what a signature says of a tensor (tensorflow/core/protobuf/meta_graph.proto).
#pragma once

#include <cstdint>

namespace gedit::tensor_info_field {

constexpr uint32_t kName = 1, kType = 2, kShape = 3, kSparse = 4;

}  // namespace gedit::tensor_info_field
