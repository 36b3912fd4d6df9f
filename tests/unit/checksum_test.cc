// Checksums of any length, in pieces, with or without what the processor brings: what zlib says.
#include "base/checksum.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <random>
#include <string>

#include "base/crc32.h"

namespace gedit::checksum_test {

uint32_t of_zlib(uint32_t before, std::string_view bytes) {
  return static_cast<uint32_t>(
      ::crc32_z(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

std::string random_bytes(size_t size) {
  std::mt19937 random(7);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

TEST(Crc32, IsThatOfZip) {
  EXPECT_EQ(crc32(0, "123456789"), 0xcbf43926U);
  const std::string bytes = random_bytes(5000);
  for (size_t offset = 0; offset < 17; ++offset) {
    for (size_t size = 0; size < 400; ++size) {
      const std::string_view part = std::string_view(bytes).substr(offset, size);
      ASSERT_EQ(crc32(0, part), of_zlib(0, part)) << offset << " " << size;
      ASSERT_EQ(crc32(0x12345678, part), of_zlib(0x12345678, part)) << offset << " " << size;
    }
  }
  EXPECT_EQ(crc32(0, bytes), of_zlib(0, bytes));
  EXPECT_EQ(crc32(0, std::string(1 << 20, '\0')), of_zlib(0, std::string(1 << 20, '\0')));
}

TEST(Checksum, PiecesAreJoined) {
  const std::string bytes = random_bytes(3000);
  for (const ChecksumKind kind : {ChecksumKind::kCrc32c, ChecksumKind::kCrc32}) {
    const uint32_t whole = checksum_of(kind, bytes, 0);
    for (const size_t at : {0, 1, 63, 64, 1000, 2999, 3000}) {
      const std::string_view first = std::string_view(bytes).substr(0, at),
                             second = std::string_view(bytes).substr(at);
      EXPECT_EQ(checksum_of(kind, second, checksum_of(kind, first, 0)), whole) << at;
      EXPECT_EQ(
          join_checksums(kind, checksum_of(kind, first, 0), checksum_of(kind, second, 0), second.size()),
          whole)
          << at;
    }
  }
}

}  // namespace gedit::checksum_test
