// Checksums of bytes that are seen in pieces, by several threads: each piece has its own, which are joined.
#pragma once

#include <cstdint>
#include <string_view>

namespace gedit {

enum class ChecksumKind : uint8_t {
  kCrc32c,  // of checkpoints, not masked
  kCrc32,   // of zip
};

// `before`: that of the bytes in front of them.
uint32_t checksum_of(ChecksumKind kind, std::string_view bytes, uint32_t before = 0);

// That of `first` bytes, of which it is the checksum, with `size` bytes behind them of the checksum `second`.
uint32_t join_checksums(ChecksumKind kind, uint32_t first, uint32_t second, uint64_t size);

}  // namespace gedit
