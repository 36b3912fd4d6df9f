// CRC-32C (Castagnoli), as TensorFlow stores it in checkpoints and event files.
#pragma once

#include <cstdint>
#include <string_view>

namespace gedit {

// Continues `crc` (0 to begin) over `bytes`. Uses SSE4.2 where the processor has it.
uint32_t crc32c(uint32_t crc, std::string_view bytes);

inline uint32_t crc32c(std::string_view bytes) { return crc32c(0, bytes); }

// What is stored instead of the crc itself: rotated and offset, so that a crc of data with crcs in it stays
// strong (tensorflow/core/lib/hash/crc32c.h).
inline uint32_t masked(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8U; }
inline uint32_t unmasked(uint32_t masked_crc) {
  const uint32_t rotated = masked_crc - 0xa282ead8U;
  return (rotated >> 17) | (rotated << 15);
}

}  // namespace gedit
