#include "base/link.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/file.h"

namespace gedit {
namespace {

bool reflink(const std::string& from, const std::string& to) {
  const int source = ::open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (source < 0) return false;
  const int target = ::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (target < 0) {
    ::close(source);
    return false;
  }
  const bool done = ::ioctl(target, FICLONE, source) == 0;
  ::close(source);
  ::close(target);
  if (!done) ::unlink(to.c_str());
  return done;
}

}  // namespace

void link_file(const std::string& from, const std::string& to, bool copy) {
  if (!copy && !exists(to)) {
    if (reflink(from, to)) return;
    if (::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), AT_SYMLINK_FOLLOW) == 0) return;
  }
  const std::shared_ptr<const InputFile> source = InputFile::open(from);
  OutputFile target(to, false);
  target.read_through(source);
  target.expect(source->bytes().size());
  target.write(source->bytes());
  target.commit();
}

}  // namespace gedit
