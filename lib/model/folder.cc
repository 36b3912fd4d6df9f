#include "model/folder.h"

#include <algorithm>
#include <array>
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

// What `from` is linked below `to`; `skip` says which entries of a folder are not: skip(path below it).
template <typename Skip>
void link_tree(const std::string& from, const std::string& to, const std::string& below, const OwnFiles& own,
               Skip skip) {
  std::error_code code;
  fs::directory_iterator entries(from, code);
  if (code) throw Error(Cause::kInput, code.message()).in(from);
  bool any = false, skipped = false;
  for (const fs::directory_entry& entry : entries) {
    const std::string name = entry.path().filename().string();
    const std::string path = join_path(below, name), target = join_path(to, name);
    if (skip(path)) {
      skipped = true;
      continue;
    }
    any = true;
    if (entry.is_directory(code) && !entry.is_symlink(code)) {
      if (!fs::create_directory(target, code) && code) throw failed(target, code);
      link_tree(entry.path().string(), target, path, own, skip);
    } else {
      own.require(entry.path().string());
      link_file(entry.path().string(), target, !own.is_near(entry.path().string()));
    }
  }
  if (skipped && !any && !below.empty()) fs::remove(to, code);  // all that was in it is left out
}

bool is_file_of_variables(std::string_view name) { return name.starts_with("variables."); }

// The first entry of a SavedModel's folder that TensorFlow did not put there; empty: none.
std::string foreign_entry(const std::string& folder) {
  constexpr std::array<std::string_view, 5> kFiles{"saved_model.pb", "saved_model.pbtxt", "fingerprint.pb",
                                                   "keras_metadata.pb", "variables"};
  constexpr std::array<std::string_view, 3> kFolders{"assets", "assets.extra", "debug"};
  std::vector<std::string> names, found;
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, code))
    names.push_back(entry.path().filename().string());
  for (const std::string& name : names) {
    const std::string path = join_path(folder, name);
    if (name == "variables" && is_directory(path)) {
      for (const fs::directory_entry& entry : fs::directory_iterator(path, code)) {
        const std::string inside = entry.path().filename().string();
        if (!is_file_of_variables(inside)) found.push_back(join_path(name, inside));
      }
    } else if (std::find(kFiles.begin(), kFiles.end(), name) == kFiles.end() &&
               (!is_directory(path) || std::find(kFolders.begin(), kFolders.end(), name) == kFolders.end())) {
      found.push_back(name);
    }
  }
  return found.empty() ? "" : *std::min_element(found.begin(), found.end());
}

// Without links; empty where nothing is there.
std::string real_folder(const std::string& path) {
  std::error_code code;
  const fs::path real = fs::canonical(path, code);
  return code ? std::string() : real.string();
}

// The folder is exchanged for another: whoever stands in it would stand in one that is gone.
void refuse_from_inside(const std::string& target, const std::string& path) {
  std::error_code code;
  const std::string here = fs::current_path(code).string() + "/";
  if (!code && here.starts_with(target + "/"))
    throw Error(Cause::kRefused, "holds the current folder, and would be replaced under it")
        .in(path)
        .hint("cd out of it, or -o another folder");
}

// The path without slashes at its end. Throws where what is there may not be replaced.
std::string replaceable(std::string path, bool overwrite, const std::string& own) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (!exists(path)) return path;
  if (!is_directory(path)) throw refused("exists, and is no directory").in(path);
  const std::string target = real_folder(path);
  std::error_code code;
  if (!fs::is_empty(target, code)) {
    if (!overwrite) throw refused("exists").in(path).hint("-O overwrites it");
    if (!exists(join_path(path, "saved_model.pb")) && !exists(join_path(path, "saved_model.pbtxt")))
      throw refused("is a directory that holds no SavedModel").in(path);
    const std::string foreign = foreign_entry(target);
    if (!foreign.empty() && (own.empty() || real_folder(own) != target)) {
      throw refused("holds '" + printable(foreign) + "', which is not the SavedModel's")
          .in(path)
          .hint("move it away, or -o another folder");
    }
  }
  refuse_from_inside(target, path);
  return path;
}

}  // namespace

SavedModelFolder::SavedModelFolder(const std::string& path, bool overwrite, const std::string& own)
    : staged_(replaceable(path, overwrite, own)) {}

FolderFile asset_file(const Model& model, const std::string& from, const std::string& to) {
  const OwnFiles own(model);
  try {
    own.require(from);
  } catch (const Error& error) {
    throw error.in(model.path);
  }
  return {from, to, !own.is_near(from)};
}

void SavedModelFolder::take_over(const Model& model, bool variables, bool fingerprint) {
  const OwnFiles own(model);
  link_tree(model.folder, staged_.folder(), "", own, [&](const std::string& name) {
    if (name == "saved_model.pb" || name == "saved_model.pbtxt") return true;
    if (name == "fingerprint.pb") return !fingerprint;
    const bool values = dir_name(name) == "variables" && is_file_of_variables(base_name(name));
    return values && !variables;
  });
  if (model.file && !still_there(*model.file))
    throw Error(Cause::kInput, "was replaced while it was read").in(model.file->path());
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
      throw Error(Cause::kInput, "no such file beside the model")
          .in(model.path)
          .of(quoted("asset", name))
          .hint("--assets DIR");
    }
    add_files({asset_file(model, found, join_path("assets", name))});
  }
}

void SavedModelFolder::add_files(const std::vector<FolderFile>& files) {
  for (const FolderFile& file : files) {
    make(dir_name(file.to));
    if (!file.copy) {
      link_file(file.from, path(file.to));
      continue;
    }
    OutputFile copy(path(file.to), false);
    copy_file(InputFile::open(file.from), copy);
    copy.commit();
  }
}

std::string twin_prefix(std::string_view path) {
  for (const std::string_view suffix : {".meta", ".pbtxt", ".pb", ".gtxt", ".json"}) {
    if (path.ends_with(suffix)) return std::string(path.substr(0, path.size() - suffix.size()));
  }
  return std::string(path);
}

}  // namespace gedit
