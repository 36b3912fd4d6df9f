// Four accumulators of 128 bits are carried over 64 bytes at a time by carry-less products, joined, and
// reduced by Barrett's method (Gopal and others, "Fast CRC Computation for Generic Polynomials Using
// PCLMULQDQ Instruction", 2009). Whatever is left, and every other processor, is zlib's.
#include "base/crc32.h"

#include <zlib.h>

#include <array>
#include <cstddef>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gedit {
namespace {

#if defined(__x86_64__)
// Powers of x modulo the polynomial, bits reversed, by how many bits they carry over.
alignas(16) constexpr std::array<uint64_t, 2> kOver512{0x0154442bd4, 0x01c6e41596};
alignas(16) constexpr std::array<uint64_t, 2> kOver128{0x01751997d0, 0x00ccaa009e};
alignas(16) constexpr std::array<uint64_t, 2> kOver64{0x0163cd6124, 0};
alignas(16) constexpr std::array<uint64_t, 2> kReduction{0x01db710641, 0x01f7011641};

__attribute__((target("pclmul,sse4.1"))) __m128i loaded(const char* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
__attribute__((target("pclmul,sse4.1"))) __m128i constants(const std::array<uint64_t, 2>& two) {
  return _mm_load_si128(reinterpret_cast<const __m128i*>(two.data()));
}
__attribute__((target("pclmul,sse4.1"))) __m128i carried(__m128i x, __m128i over, __m128i next) {
  const __m128i low = _mm_clmulepi64_si128(x, over, 0x00), high = _mm_clmulepi64_si128(x, over, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

// `size` is at least 64 and a multiple of 16; both checksums are inverted.
__attribute__((target("pclmul,sse4.1"))) uint32_t multiplied(uint32_t crc, const char* p, size_t size) {
  __m128i a = _mm_xor_si128(loaded(p), _mm_cvtsi32_si128(static_cast<int>(crc))), b = loaded(p + 16),
          c = loaded(p + 32), d = loaded(p + 48);
  for (p += 64, size -= 64; size >= 64; p += 64, size -= 64) {
    const __m128i over = constants(kOver512);
    a = carried(a, over, loaded(p));
    b = carried(b, over, loaded(p + 16));
    c = carried(c, over, loaded(p + 32));
    d = carried(d, over, loaded(p + 48));
  }
  const __m128i over = constants(kOver128);
  a = carried(carried(carried(a, over, b), over, c), over, d);
  for (; size >= 16; p += 16, size -= 16) a = carried(a, over, loaded(p));
  // 128 bits to 64, to 32.
  const __m128i low = _mm_setr_epi32(-1, 0, -1, 0);
  a = _mm_xor_si128(_mm_srli_si128(a, 8), _mm_clmulepi64_si128(a, over, 0x10));
  a = _mm_xor_si128(_mm_srli_si128(a, 4),
                    _mm_clmulepi64_si128(_mm_and_si128(a, low), constants(kOver64), 0x00));
  const __m128i reduction = constants(kReduction);
  __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(a, low), reduction, 0x10);
  quotient = _mm_clmulepi64_si128(_mm_and_si128(quotient, low), reduction, 0x00);
  return static_cast<uint32_t>(_mm_extract_epi32(_mm_xor_si128(a, quotient), 1));
}
#endif

}  // namespace

uint32_t crc32(uint32_t before, std::string_view bytes) {
#if defined(__x86_64__)
  constexpr size_t kLeast = 64;
  if (bytes.size() >= kLeast && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1")) {
    const size_t size = bytes.size() / 16 * 16;
    before = ~multiplied(~before, bytes.data(), size);
    bytes.remove_prefix(size);
  }
#endif
  return static_cast<uint32_t>(
      ::crc32_z(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

}  // namespace gedit
