// Three interleaved hardware streams per block hide the instruction's latency (3 cycles); their crcs are
// joined with tables that advance a crc over a block of zeros. Without SSE4.2: a table of eight, eight bytes
// a step.
#include "base/crc32c.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

static_assert(std::endian::native == std::endian::little,
              "gedit reads and writes little-endian files in place");

namespace gedit {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;

using CrcTable = std::array<uint32_t, 256>;

constexpr std::array<CrcTable, 8> make_tables() {
  std::array<CrcTable, 8> tables{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][i] = crc;
  }
  for (size_t k = 1; k < 8; ++k) {
    for (size_t i = 0; i < 256; ++i)
      tables[k][i] = (tables[k - 1][i] >> 8) ^ tables[0][tables[k - 1][i] & 0xff];
  }
  return tables;
}

constexpr std::array<CrcTable, 8> kTables = make_tables();

uint64_t load64(const char* p) {
  uint64_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

// `crc` is not inverted here, nor in the functions below.
uint32_t portable(uint32_t crc, const char* p, size_t size) {
  for (; size >= 8; p += 8, size -= 8) {
    const uint64_t word = load64(p) ^ crc;
    crc = 0;
    for (size_t k = 0; k < 8; ++k) crc ^= kTables[7 - k][(word >> (8 * k)) & 0xff];
  }
  for (; size > 0; ++p, --size) crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<unsigned char>(*p)) & 0xff];
  return crc;
}

#if defined(__x86_64__)

constexpr size_t kBlock = 1360;  // bytes of each of the three streams

using Matrix = std::array<uint32_t, 32>;  // column i: what bit i of a crc becomes

constexpr uint32_t product(const Matrix& matrix, uint32_t vector) {
  uint32_t sum = 0;
  for (size_t i = 0; vector != 0; vector >>= 1, ++i) {
    if ((vector & 1) != 0) sum ^= matrix[i];
  }
  return sum;
}

constexpr Matrix square(const Matrix& matrix) {
  Matrix result{};
  for (size_t i = 0; i < 32; ++i) result[i] = product(matrix, matrix[i]);
  return result;
}

// The crc after `bytes` zero bytes, for each of four bytes of a crc.
constexpr std::array<CrcTable, 4> make_shift(size_t bytes) {
  Matrix power{};  // one zero bit
  power[0] = kPolynomial;
  for (size_t i = 1; i < 32; ++i) power[i] = uint32_t{1} << (i - 1);
  Matrix total{};
  for (size_t i = 0; i < 32; ++i) total[i] = uint32_t{1} << i;
  for (size_t bits = bytes * 8; bits != 0; bits >>= 1) {
    if ((bits & 1) != 0) {
      for (size_t i = 0; i < 32; ++i) total[i] = product(power, total[i]);
    }
    power = square(power);
  }
  std::array<CrcTable, 4> tables{};
  for (size_t k = 0; k < 4; ++k) {
    for (uint32_t i = 0; i < 256; ++i) tables[k][i] = product(total, i << (8 * k));
  }
  return tables;
}

constexpr std::array<CrcTable, 4> kShift = make_shift(kBlock);

uint32_t shifted(uint32_t crc) {
  return kShift[0][crc & 0xff] ^ kShift[1][(crc >> 8) & 0xff] ^ kShift[2][(crc >> 16) & 0xff] ^
         kShift[3][crc >> 24];
}

__attribute__((target("sse4.2"))) uint32_t hardware(uint32_t crc, const char* p, size_t size) {
  for (; size >= 3 * kBlock; p += 3 * kBlock, size -= 3 * kBlock) {
    uint64_t a = crc, b = 0, c = 0;
    for (size_t i = 0; i < kBlock; i += 8) {
      a = _mm_crc32_u64(a, load64(p + i));
      b = _mm_crc32_u64(b, load64(p + kBlock + i));
      c = _mm_crc32_u64(c, load64(p + 2 * kBlock + i));
    }
    crc = shifted(shifted(static_cast<uint32_t>(a)) ^ static_cast<uint32_t>(b)) ^ static_cast<uint32_t>(c);
  }
  uint64_t rest = crc;
  for (; size >= 8; p += 8, size -= 8) rest = _mm_crc32_u64(rest, load64(p));
  crc = static_cast<uint32_t>(rest);
  for (; size > 0; ++p, --size) crc = _mm_crc32_u8(crc, static_cast<unsigned char>(*p));
  return crc;
}

#endif

}  // namespace

uint32_t crc32c(uint32_t crc, std::string_view bytes) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return ~hardware(~crc, bytes.data(), bytes.size());
#endif
  return ~portable(~crc, bytes.data(), bytes.size());
}

}  // namespace gedit
