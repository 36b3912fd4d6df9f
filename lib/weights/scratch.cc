#include "weights/scratch.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "base/descriptor.h"
#include "base/error.h"

namespace gedit {

ScratchFile::ScratchFile() {
  const char* dir = std::getenv("TMPDIR");
  const std::string where = dir != nullptr && *dir != '\0' ? dir : "/tmp";
  descriptor_ = open_unnamed(where, O_RDWR, 0600);
  if (descriptor_ < 0) {
    name_ = where + "/gedit-XXXXXX";
    descriptor_ = ::mkostemp(name_.data(), O_CLOEXEC);
    if (descriptor_ < 0)
      throw Error(Cause::kInput, "no room to unpack it in " + where + ": " + system_text(errno));
  }
}

ScratchFile::~ScratchFile() {
  ::close(descriptor_);
  if (!name_.empty()) ::unlink(name_.c_str());
}

void ScratchFile::write(std::string_view bytes) {
  int error = 0;
  write_all(descriptor_, bytes.data(), bytes.size(), error);
  if (error != 0) throw Error(Cause::kInput, "no room to unpack it: " + system_text(error));
}

std::shared_ptr<const InputFile> ScratchFile::finish() {
  return InputFile::open(name_.empty() ? path_of(descriptor_) : name_);
}

}  // namespace gedit
