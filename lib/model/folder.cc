#include "model/folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/link.h"
#include "model/asset_paths.h"
#include "model/collections.h"

namespace gedit {
namespace {

namespace fs = std::filesystem;

Error failed(const std::string& path, const std::error_code& code) {
  return Error(Cause::kWrite, code.message()).in(path);
}

// Files and folders below `from`, linked below `to`; `skip` names entries of `from` itself.
void link_tree(const std::string& from, const std::string& to, const std::vector<std::string_view>& skip) {
  std::error_code code;
  fs::directory_iterator entries(from, code);
  if (code) throw Error(Cause::kInput, code.message()).in(from);
  for (const fs::directory_entry& entry : entries) {
    const std::string name = entry.path().filename().string();
    bool skipped = false;
    for (const std::string_view one : skip) skipped = skipped || name == one;
    if (skipped) continue;
    const std::string target = join_path(to, name);
    if (entry.is_directory(code)) {
      if (!fs::create_directory(target, code) && code) throw failed(target, code);
      link_tree(entry.path().string(), target, {});
    } else {
      link_file(entry.path().string(), target);
    }
  }
}

}  // namespace

SavedModelFolder::SavedModelFolder(std::string path, bool overwrite)
    : path_(std::move(path)), overwrite_(overwrite) {
  while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
  if (exists(path_)) {
    if (!is_directory(path_)) throw Error(Cause::kRefused, "exists, and is no directory").in(path_);
    const bool ours =
        exists(join_path(path_, "saved_model.pb")) || exists(join_path(path_, "saved_model.pbtxt"));
    std::error_code code;
    const bool empty = fs::is_empty(path_, code);
    if (!empty && !overwrite_) throw Error(Cause::kRefused, "exists").in(path_).hint("-O overwrites it");
    if (!empty && !ours) throw Error(Cause::kRefused, "is a directory that holds no SavedModel").in(path_);
    overwrite_ = true;
  }
  const std::string parent(dir_name(path_));
  std::error_code code;
  fs::create_directories(parent, code);
  if (code) throw failed(parent, code);
  temporary_ = path_ + ".tmp-XXXXXX";
  if (::mkdtemp(temporary_.data()) == nullptr) {
    const int error = errno;
    temporary_.clear();
    throw failed(path_, std::error_code(error, std::generic_category()));
  }
  fs::permissions(
      temporary_,
      fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read | fs::perms::others_exec,
      fs::perm_options::add, code);
}

SavedModelFolder::~SavedModelFolder() {
  if (temporary_.empty()) return;
  std::error_code code;
  fs::remove_all(temporary_, code);
}

std::string SavedModelFolder::path(std::string_view name) const { return join_path(temporary_, name); }

std::string SavedModelFolder::make(std::string_view name) const {
  const std::string made = path(name);
  std::error_code code;
  if (!fs::create_directory(made, code) && code) throw failed(made, code);
  return made;
}

void SavedModelFolder::take_over(const std::string& from, bool variables) {
  std::vector<std::string_view> skip{"saved_model.pb", "saved_model.pbtxt", "fingerprint.pb"};
  if (!variables) skip.emplace_back("variables");
  link_tree(from, temporary_, skip);
}

void SavedModelFolder::add_assets(const Model& model) {
  std::set<std::string, std::less<>> linked;  // several tensors may be handed one file
  for (const Asset& asset : assets(model.meta())) {
    const std::string name(asset.file);
    if (!linked.insert(name).second) continue;
    if (name.empty() || name != base_name(name) ||
        name == "..") {  // assets are flat (docs/tensorflow.md#savedmodel-folder)
      throw Error(Cause::kInput, "not the name of a file").in(model.path).of(quoted("asset", name));
    }
    const std::string found = asset_path(model, name);
    if (!exists(found)) {
      throw Error(Cause::kInput, "no such file beside the model").in(model.path).of(quoted("asset", name));
    }
    link_file(found, join_path(make("assets"), base_name(name)));
  }
}

void SavedModelFolder::add_files(const std::vector<FolderFile>& files) {
  for (const FolderFile& file : files) {
    make(dir_name(file.to));
    link_file(file.from, path(file.to));
  }
}

void SavedModelFolder::commit() {
  std::error_code code;
  if (!exists(path_)) {
    fs::rename(temporary_, path_, code);
    if (code) throw failed(path_, code);
    temporary_.clear();
    return;
  }
  // Both are whole at every moment, and one of them is there: the exchange is one step.
  if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0) return;
  if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) {
    throw failed(path_, std::error_code(errno, std::generic_category()));
  }
  // A file system without exchange: both are whole all the same, under one name or the other.
  const std::string old = temporary_ + ".old";
  fs::rename(path_, old, code);
  if (!code) fs::rename(temporary_, path_, code);
  if (code) {
    std::error_code ignored;
    if (!exists(path_)) fs::rename(old, path_, ignored);
    throw failed(path_, code);
  }
  temporary_ = old;
}  // the destructor removes the old one, which now has the temporary name

std::string twin_prefix(std::string_view path) {
  for (const std::string_view suffix : {".meta", ".pbtxt", ".pb", ".gtxt", ".json"}) {
    if (path.ends_with(suffix)) return std::string(path.substr(0, path.size() - suffix.size()));
  }
  return std::string(path);
}

}  // namespace gedit
