// TensorInfo, what a signature says of a tensor (tensorflow/core/protobuf/meta_graph.proto).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gedit {

namespace tensor_info_field {
constexpr uint32_t kName = 1, kType = 2, kShape = 3, kSparse = 4;
}

// `tensor_info` with this TensorShapeProto, where the old one stood.
std::string with_tensor_shape(std::string_view tensor_info, std::string_view shape_proto);

}  // namespace gedit
