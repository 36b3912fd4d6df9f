#include "base/link.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"

namespace gedit {

bool can_link(const InputFile& file, const std::string& folder) {
  struct stat source {
  }, target{};
  if (::fstat(file.descriptor(), &source) != 0 || ::stat(folder.c_str(), &target) != 0) return false;
  if (source.st_dev != target.st_dev || source.st_nlink == 0) return false;
  // Of files that one does not own, one may link those that one may write (sysctl fs.protected_hardlinks).
  return source.st_uid == ::geteuid() || ::geteuid() == 0 ||
         ::faccessat(AT_FDCWD, file.path().c_str(), R_OK | W_OK, AT_EACCESS) == 0;
}

void copy_file(const std::shared_ptr<const InputFile>& from, OutputFile& to, bool reflink) {
  if (reflink && to.share(*from)) return;
  to.read_through(from);
  to.expect(from->bytes().size());
  to.write(from->bytes());
}

void link_file(const std::string& from, const std::string& to, bool copy) {
  const std::shared_ptr<const InputFile> source = InputFile::open(from);
  OutputFile target(to, false);
  const bool shared = !copy && target.share(*source);
  if (!shared && !copy && link_open_file(source->descriptor(), to) == 0) return;
  if (!shared) copy_file(source, target, false);
  target.commit();
}

}  // namespace gedit
