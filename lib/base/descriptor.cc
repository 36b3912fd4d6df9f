#include "base/descriptor.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace gedit {

void open_many_files() {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::string system_text(int error) {
  std::string text = std::strerror(error);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

[[noreturn]] void fail_reading(const std::string& path, int error) {
  throw Error(Cause::kInput, system_text(error)).in(path);
}

[[noreturn]] void fail_writing(const std::string& path, int error) {
  throw Error(Cause::kWrite, system_text(error)).in(path);
}

bool lacks_rename_flags(int error) { return error == EINVAL || error == ENOSYS || error == ENOTSUP; }

void write_all(int descriptor, const char* p, size_t size, int& error) {
  while (size > 0) {
    const ssize_t wrote = ::write(descriptor, p, std::min(size, kFileBuffer));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      error = wrote < 0 ? errno : ENOSPC;
      return;
    }
    p += wrote;
    size -= static_cast<size_t>(wrote);
  }
}

int open_unnamed(const std::string& directory, int flags, unsigned mode) {
  const int descriptor = ::open(directory.c_str(), O_TMPFILE | O_CLOEXEC | flags, mode);
  if (descriptor < 0) {
    if (errno == EISDIR || errno == EINVAL) errno = EOPNOTSUPP;  // as of kernels that do not know them
    return -1;
  }
  if (::access(path_of(descriptor).c_str(), F_OK) == 0) return descriptor;
  ::close(descriptor);
  errno = EOPNOTSUPP;
  return -1;
}

std::string path_of(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

int link_open_file(int descriptor, const std::string& path) {
  return ::linkat(AT_FDCWD, path_of(descriptor).c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0
             ? 0
             : errno;
}

WriteFailure write_mapped(const Mapped& part, int to) {
  int error = 0;
  write_all(to, part.bytes.data(), part.bytes.size(), error);
  if (error == EFAULT) return {0, part.source};
  return {error, nullptr};
}

}  // namespace gedit
