// The CRC-32 of zip and gzip: as zlib's crc32(), in a tenth of its time where the processor multiplies
// polynomials.
#pragma once

#include <cstdint>
#include <string_view>

namespace gedit {

// Of what `before` is the checksum of (0: nothing), and of `bytes`.
uint32_t crc32(uint32_t before, std::string_view bytes);

}  // namespace gedit
