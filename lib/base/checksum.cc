#include "base/checksum.h"

#include <algorithm>

#include "base/crc32.h"
#include "base/crc32c.h"

namespace gedit {
namespace {

// A crc is a polynomial over GF(2), its highest power in the lowest bit; joining multiplies by a power of x.
constexpr uint32_t kUnit = 0x80000000U;  // x^0

constexpr uint32_t polynomial_of(ChecksumKind kind) {
  return kind == ChecksumKind::kCrc32c ? 0x82f63b78U : 0xedb88320U;
}

uint32_t product(uint32_t polynomial, uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (uint32_t bit = kUnit; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) sum ^= b;
    b = (b >> 1) ^ ((b & 1) != 0 ? polynomial : 0);
  }
  return sum;
}

}  // namespace

uint32_t checksum_of(ChecksumKind kind, std::string_view bytes, uint32_t before) {
  return kind == ChecksumKind::kCrc32c ? crc32c(before, bytes) : crc32(before, bytes);
}

uint32_t join_checksums(ChecksumKind kind, uint32_t first, uint32_t second, uint64_t size) {
  if (first == 0) return second;
  const uint32_t polynomial = polynomial_of(kind);
  uint32_t power = kUnit >> 8;  // x^8, of one byte
  for (; size != 0; size >>= 1) {
    if ((size & 1) != 0) first = product(polynomial, power, first);
    power = product(polynomial, power, power);
  }
  return first ^ second;
}

}  // namespace gedit
