// An output file whose bytes are put into their places by several threads. As with OutputFile nothing is at
// the path before commit(), and even a killed process leaves nothing behind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gedit {

class PlacedFile {
 public:
  // Throws Error: kRefused where the file exists and `overwrite` is not set, kWrite where the folder cannot
  // be written.
  PlacedFile(std::string path, bool overwrite);
  ~PlacedFile();
  PlacedFile(const PlacedFile&) = delete;
  PlacedFile& operator=(const PlacedFile&) = delete;

  // From any thread. Throws Error (kWrite).
  void write_at(uint64_t offset, std::string_view bytes) const;

  // The file is `size` bytes long; what was nowhere written is zero. Throws as above.
  void end_at(uint64_t size) const;

  // The file while it has no name, for whoever reads or links it.
  std::string path_meanwhile() const;

  void commit();  // the file is there, whole; throws Error (kWrite, kRefused)

 private:
  [[noreturn]] void fail(int error) const;

  std::string path_;
  bool overwrite_;
  std::string temporary_;  // its name, where it has one
  int descriptor_ = -1;
};

}  // namespace gedit
