#include "edit/basis/tensor_info.h"

#include "base/wire.h"

namespace gedit {

std::string with_tensor_shape(std::string_view tensor_info, std::string_view shape_proto) {
  std::string out;
  bool written = false;
  for (Fields fields(tensor_info); fields.next();) {
    if (!fields->bytes(tensor_info_field::kShape)) {
      out += fields->raw;
    } else if (!written) {
      append_bytes_field(out, tensor_info_field::kShape, shape_proto);
      written = true;
    }
  }
  if (!written) append_bytes_field(out, tensor_info_field::kShape, shape_proto);
  return out;
}

}  // namespace gedit
