#include "base/staged_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/file.h"

namespace gedit {
namespace {

namespace fs = std::filesystem;

// As mkdir makes one, and what may be done in the old one may be done in the new one.
mode_t mode_for(const std::string& path) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  struct stat old {};
  return ::stat(path.c_str(), &old) == 0 ? (old.st_mode & 07777) | 0700 : 0777 & ~mask;
}

}  // namespace

StagedFolder::StagedFolder(std::string path) : path_(std::move(path)), target_(path_) {
  std::error_code code;
  if (const fs::path real = fs::canonical(path_, code); !code) {
    target_ = real.string();
    replaces_ = !fs::is_empty(real, code);
  }
  const std::string parent(dir_name(target_));
  fs::create_directories(parent, code);
  if (code) fail_writing(parent, code.value());
  temporary_ = target_ + ".tmp-XXXXXX";
  const HeldSignals until_it_is_noted;
  if (::mkdtemp(temporary_.data()) == nullptr) fail_writing(path_, errno);
  leftover_.note(temporary_);
  ::chmod(temporary_.c_str(), mode_for(target_));
}

StagedFolder::~StagedFolder() {
  if (temporary_.empty()) return;
  std::error_code code;
  fs::remove_all(temporary_, code);
}

std::string StagedFolder::path(std::string_view name) const { return join_path(temporary_, name); }

std::string StagedFolder::make(std::string_view name) const {
  std::string made = path(name);
  std::error_code code;
  fs::create_directories(made, code);
  if (code) fail_writing(join_path(path_, name), code.value());
  return made;
}

void StagedFolder::commit() {
  const HeldSignals until_it_is_there;
  if (!replaces_ || !exists(target_)) {
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
      if (errno == ENOTEMPTY || errno == EEXIST) throw refused("exists").in(path_).hint("-O overwrites it");
      fail_writing(path_, errno);
    }
    temporary_.clear();
    return;
  }
  // Both are whole at every moment, and one of them is there; the destructor removes the old one.
  if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0) return;
  if (!lacks_rename_flags(errno)) fail_writing(path_, errno);
  // A file system without exchange: both are whole all the same, under one name or the other.
  const std::string old = temporary_ + ".old";
  if (::rename(target_.c_str(), old.c_str()) != 0) fail_writing(path_, errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    const int error = errno;
    ::rename(old.c_str(), target_.c_str());
    fail_writing(path_, error);
  }
  temporary_ = old;
}

}  // namespace gedit
