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
  descriptor_ = ::open(where.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor_ < 0) {
    std::string name = where + "/gedit-XXXXXX";
    descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor_ < 0)
      throw Error(Cause::kInput, "no room to unpack it in " + where + ": " + system_text(errno));
    ::unlink(name.c_str());
  }
}

ScratchFile::~ScratchFile() { ::close(descriptor_); }

void ScratchFile::write(std::string_view bytes) {
  int error = 0;
  write_all(descriptor_, bytes.data(), bytes.size(), error);
  if (error != 0) throw Error(Cause::kInput, "no room to unpack it: " + system_text(error));
}

std::shared_ptr<const InputFile> ScratchFile::finish() {
  return InputFile::open("/proc/self/fd/" + std::to_string(descriptor_));
}

}  // namespace gedit
