// Device strings as NodeDef.device has them: `/job:worker/replica:0/task:1/device:GPU:0`, any part left out
// (tensorflow/core/util/device_name_utils.cc, ParseFullName).
#pragma once

#include <string_view>

namespace gedit {

// Throws Error (kUsage) for what TensorFlow would call malformed when a session places the node. Empty is no
// device.
void check_device(std::string_view device);

}  // namespace gedit
