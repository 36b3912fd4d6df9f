#include "base/embedded.h"

#include <zlib.h>

#include <new>
#include <stdexcept>

namespace gedit {
namespace {

// Of a gzip stream without a name (RFC 1952), as cmake/Embed.cmake makes them: a head, then deflated bytes,
// then their checksum and size.
constexpr uInt kHead = 10, kChecksum = 4, kSize = 4;
// Neither is looked at: what is in the program is not checked each time that it starts.
constexpr uInt kTail = kChecksum + kSize;
constexpr size_t kMore = 32768;  // bytes, where there are several

// The size of the last of the streams.
size_t last_size(const char* end) {
  size_t size = 0;
  for (uInt i = 0; i < kSize; ++i)
    size |= size_t{static_cast<unsigned char>(end[-1 - static_cast<int>(i)])} << 8 * (kSize - 1 - i);
  return size;
}

}  // namespace

std::string embedded(const char* begin, const char* end) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();  // -: deflated bytes alone
  std::string files(last_size(end), '\0');
  size_t made = 0;
  int status = Z_STREAM_END;
  // gzip makes a stream of each file.
  for (const char* at = begin; at != end && status == Z_STREAM_END;
       at = reinterpret_cast<const char*>(stream.next_in) + kTail) {
    // zlib does not write to its input.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(at + kHead));
    stream.avail_in = static_cast<uInt>(end - at) - kHead;
    for (status = inflateReset(&stream); status == Z_OK;) {
      if (made == files.size()) files.resize(2 * made + kMore);
      stream.next_out = reinterpret_cast<Bytef*>(files.data() + made);
      stream.avail_out = static_cast<uInt>(files.size() - made);
      status = inflate(&stream, Z_NO_FLUSH);
      made = files.size() - stream.avail_out;
    }
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::logic_error("a file inside the program is damaged");
  files.resize(made);
  return files;
}

}  // namespace gedit
