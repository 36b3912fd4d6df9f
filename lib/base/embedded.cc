#include "base/embedded.h"

#include <zlib.h>

#include <array>
#include <new>
#include <stdexcept>

namespace gedit {

std::string embedded(const char* begin, const char* end) {
  z_stream stream{};
  // zlib does not write to its input.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(begin));
  stream.avail_in = static_cast<uInt>(end - begin);
  if (inflateInit2(&stream, MAX_WBITS + 16) != Z_OK) throw std::bad_alloc();  // + 16: the gzip format
  std::string files;
  std::array<char, 32768> piece{};
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = piece.size();
    status = inflate(&stream, Z_NO_FLUSH);
    files.append(piece.data(), piece.size() - stream.avail_out);
    // gzip makes a stream of each file.
    if (status == Z_STREAM_END && stream.avail_in > 0) status = inflateReset(&stream);
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::logic_error("a file inside the program is damaged");
  return files;
}

}  // namespace gedit
