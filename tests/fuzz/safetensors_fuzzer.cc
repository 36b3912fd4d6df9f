// A safetensors file from any bytes: read, every value once, or refused.
#include "weights/safetensors.h"
#include "weights_file.h"

namespace gedit {

void fuzz_safetensors(const uint8_t* data, size_t size) { read_weights_from(data, size, read_safetensors); }

}  // namespace gedit
