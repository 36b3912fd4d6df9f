#include "weights/staged_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/file.h"

namespace gedit {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_writing(const std::string& path, int error) {
  throw Error(Cause::kWrite, system_text(error)).in(path);
}

}  // namespace

StagedFolder::StagedFolder(std::string path) : path_(std::move(path)) {
  std::error_code code;
  const std::string parent(dir_name(path_));
  fs::create_directories(parent, code);
  if (code) fail_writing(parent, code.value());
  temporary_ = path_ + ".tmp-XXXXXX";
  const HeldSignals until_it_is_noted;
  if (::mkdtemp(temporary_.data()) == nullptr) {
    temporary_.clear();
    fail_writing(path_, errno);
  }
  leftover_.emplace(temporary_);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::chmod(temporary_.c_str(), 0777 & ~mask);
}

StagedFolder::~StagedFolder() {
  if (temporary_.empty()) return;
  std::error_code code;
  fs::remove_all(temporary_, code);
}

std::string StagedFolder::path(std::string_view name) const { return join_path(temporary_, name); }

void StagedFolder::make(std::string_view name) const {
  std::error_code code;
  fs::create_directories(path(name), code);
  if (code) fail_writing(join_path(path_, name), code.value());
}

void StagedFolder::commit() {
  const HeldSignals until_it_is_there;
  if (!exists(path_)) {
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_writing(path_, errno);
    temporary_.clear();
    return;
  }
  // Both are whole at every moment, and one of them is there; the destructor removes the old one.
  if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0) return;
  if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) fail_writing(path_, errno);
  const std::string old = temporary_ + ".old";
  if (::rename(path_.c_str(), old.c_str()) != 0) fail_writing(path_, errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::rename(old.c_str(), path_.c_str());
    fail_writing(path_, error);
  }
  temporary_ = old;
}

}  // namespace gedit
