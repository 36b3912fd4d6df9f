// An archive of .npy files from any bytes: read, every value once, or refused.
#include "weights/npz.h"
#include "weights_file.h"

namespace gedit {

void fuzz_npz(const uint8_t* data, size_t size) {
  read_weights_from(data, size, [](const auto& file) { return read_npz(file, true); });
}

}  // namespace gedit
