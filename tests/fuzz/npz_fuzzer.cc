// An archive of .npy files from any bytes: read, every value once, or refused.
#include "weights/npz.h"
#include "weights_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  gedit::read_weights_from(data, size, [](const auto& file) { return gedit::read_npz(file, true); });
  return 0;
}
