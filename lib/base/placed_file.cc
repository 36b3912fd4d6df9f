#include "base/placed_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/file.h"

namespace gedit {

PlacedFile::PlacedFile(std::string path, bool overwrite) : path_(std::move(path)), overwrite_(overwrite) {
  if (!overwrite_ && exists(path_)) throw Error(Cause::kRefused, "exists").in(path_).hint("-O overwrites it");
  struct stat status {};
  if (::stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    throw Error(Cause::kWrite, "is no regular file").in(path_);
  const std::string dir(dir_name(path_));
  descriptor_ = ::open(dir.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (descriptor_ >= 0) return;
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) fail(errno);
  temporary_ = path_ + ".tmp-XXXXXX";
  descriptor_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    temporary_.clear();
    fail(errno);
  }
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor_, 0666 & ~mask);
}

PlacedFile::~PlacedFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void PlacedFile::fail(int error) const { throw Error(Cause::kWrite, system_text(error)).in(path_); }

void PlacedFile::write_at(uint64_t offset, std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail(errno);
    offset += static_cast<uint64_t>(put);
    bytes.remove_prefix(static_cast<size_t>(put));
  }
}

void PlacedFile::end_at(uint64_t size) const {
  if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) fail(errno);
}

std::string PlacedFile::path_meanwhile() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

void PlacedFile::commit() {
  if (temporary_.empty()) {
    const std::string self = path_meanwhile();
    if (!overwrite_) {  // fails where somebody else made the file meanwhile
      if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0) return;
      if (errno == EEXIST) throw Error(Cause::kRefused, "exists").in(path_).hint("-O overwrites it");
      fail(errno);
    }
    for (int attempt = 0;; ++attempt) {
      std::string name = path_;
      name += ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
      if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
        temporary_ = std::move(name);
        break;
      }
      if (errno != EEXIST || attempt > 100) fail(errno);
    }
  }
  if (overwrite_) {
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail(errno);
    temporary_.clear();
    return;
  }
  if (::link(temporary_.c_str(), path_.c_str()) != 0) fail(errno);  // the destructor removes the other name
}

}  // namespace gedit
