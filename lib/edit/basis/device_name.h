// Device strings as NodeDef.device has them: `/job:worker/replica:0/task:1/device:GPU:0`, any part left out
// (tensorflow/core/util/device_name_utils.cc, ParseFullName).
#pragma once

#include <array>
#include <string_view>

namespace gedit {

// Throws Error (kUsage) for what TensorFlow would call malformed when a session places the node. Empty is no
// device.
void check_device(std::string_view device);

// Where a device is, from the outside in.
constexpr std::array<std::string_view, 3> kDeviceOwners{"/job:", "/replica:", "/task:"};
// The part that begins like this, with it: `/job:worker`; empty where there is none.
std::string_view device_part(std::string_view device, std::string_view what);
// The part that says which of the task's devices: `/device:GPU:0`, or as older releases spell it `/gpu:0`.
std::string_view processor_part(std::string_view device);

// Whether one device may be meant by both: none of their parts contradict. Of what is well formed.
bool devices_agree(std::string_view a, std::string_view b);

}  // namespace gedit
