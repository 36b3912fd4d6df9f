// A file without a name, for what neither fits into memory nor lies in a file.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/file.h"

namespace gedit {

class ScratchFile {
 public:
  ScratchFile();  // in TMPDIR; throws Error (kInput)
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  void write(std::string_view bytes);
  std::shared_ptr<const InputFile> finish();

 private:
  std::string name_;  // where files without one cannot be had
  int descriptor_ = -1;
};

}  // namespace gedit
