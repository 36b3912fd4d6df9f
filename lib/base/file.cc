#include "base/file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace gedit {

void Sink::write_from(const std::shared_ptr<const InputFile>& /*file*/, std::string_view bytes) {
  write(bytes);
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

bool is_directory(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool still_there(const InputFile& file) {
  struct stat now {
  }, then{};
  return ::stat(file.path().c_str(), &now) == 0 && ::fstat(file.descriptor(), &then) == 0 &&
         now.st_dev == then.st_dev && now.st_ino == then.st_ino;
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat x {
  }, y{};
  return ::stat(a.c_str(), &x) == 0 && ::stat(b.c_str(), &y) == 0 && x.st_dev == y.st_dev &&
         x.st_ino == y.st_ino;
}

std::string behind_link(const std::string& path) {
  constexpr int kMostLinks = 40;  // as the kernel follows
  std::filesystem::path at(path);
  for (int i = 0; i < kMostLinks; ++i) {
    std::error_code none;
    const std::filesystem::path to = std::filesystem::read_symlink(at, none);
    if (none) return i == 0 ? path : at.string();
    at = at.parent_path() / to;
  }
  return path;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(folder.empty() ? "." : folder, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string join_path(std::string_view dir, std::string_view name) {
  std::string path(dir);
  if (!path.empty() && path.back() != '/') path += '/';
  path += name;
  return path;
}

std::string_view base_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos || path.size() == 1 ? path : path.substr(slash + 1);
}

std::string_view dir_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace gedit
