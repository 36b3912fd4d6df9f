// An input that is mapped and only viewed; what cannot be mapped is spooled first.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/file.h"

namespace gedit {
namespace {

// A file of its own without a name, deleted with its last descriptor.
int open_scratch(const std::string& path) {
  const char* dir = std::getenv("TMPDIR");
  const std::string where = dir != nullptr && *dir != '\0' ? dir : "/tmp";
  int descriptor = ::open(where.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    std::string name = where + "/gedit-XXXXXX";
    descriptor = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor < 0)
      throw Error(Cause::kInput, "no room to spool it in " + where + ": " + system_text(errno)).in(path);
    ::unlink(name.c_str());
  }
  return descriptor;
}

// What is typed at a terminal ends long before; /dev/zero never does.
constexpr uint64_t kMostOfDevice = uint64_t{16} << 20;

int spool(const std::string& path, int pipe, bool device) {
  const int scratch = open_scratch(path);
  std::vector<char> buffer(kFileBuffer);
  for (uint64_t spooled = 0;;) {
    const ssize_t got = ::read(pipe, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int error = errno;
      ::close(scratch);
      fail_reading(path, error);
    }
    if (got == 0) return scratch;
    spooled += static_cast<uint64_t>(got);
    if (device && spooled > kMostOfDevice) {
      ::close(scratch);
      throw Error(Cause::kInput, "a device that does not end").in(path);
    }
    int error = 0;
    write_all(scratch, buffer.data(), static_cast<size_t>(got), error);
    if (error != 0) {
      ::close(scratch);
      throw Error(Cause::kInput, "no room to spool it: " + system_text(error)).in(path);
    }
  }
}

}  // namespace

std::shared_ptr<const InputFile> InputFile::open(const std::string& path) {
  const bool standard = path == "-";
  int descriptor = standard ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail_reading(path, errno);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    const int error = errno;
    ::close(descriptor);
    fail_reading(path, error);
  }
  if (S_ISDIR(status.st_mode)) {
    ::close(descriptor);
    fail_reading(path, EISDIR);
  }
  if (!S_ISREG(status.st_mode) || (standard && ::lseek(descriptor, 0, SEEK_CUR) != 0)) {
    const int pipe = descriptor;
    try {
      descriptor = spool(path, pipe, S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode));
    } catch (...) {
      ::close(pipe);
      throw;
    }
    ::close(pipe);
  }
  return std::shared_ptr<const InputFile>(new InputFile(path, descriptor));  // the constructor is private
}

InputFile::InputFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) {
    const int error = errno;
    ::close(descriptor_);
    fail_reading(path_, error);
  }
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return;
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor_, 0);
  if (address == MAP_FAILED) {
    const int error = errno;
    ::close(descriptor_);
    fail_reading(path_, error);
  }
  bytes_ = {static_cast<const char*>(address), size};
}

InputFile::~InputFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  ::close(descriptor_);
}

void InputFile::fetch(std::string_view part) const {
#ifdef MADV_POPULATE_READ
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const auto first = static_cast<size_t>(part.data() - bytes_.data()) / page * page;
  const auto end = static_cast<size_t>(part.data() + part.size() - bytes_.data());
  ::madvise(const_cast<char*>(bytes_.data()) + first, end - first, MADV_POPULATE_READ);
#endif
}

void InputFile::forget(std::string_view part) const {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t first = (static_cast<size_t>(part.data() - bytes_.data()) + page - 1) / page * page;
  const size_t end = static_cast<size_t>(part.data() + part.size() - bytes_.data()) / page * page;
  if (end > first) ::madvise(const_cast<char*>(bytes_.data()) + first, end - first, MADV_DONTNEED);
}

}  // namespace gedit
