// What libFuzzer calls, of a program of one target.
#include <cstddef>
#include <cstdint>

namespace gedit {
void GEDIT_FUZZED(const uint8_t* data, size_t size);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  gedit::GEDIT_FUZZED(data, size);
  return 0;
}
