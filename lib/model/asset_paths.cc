#include "model/asset_paths.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <optional>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/file.h"
#include "base/first_free.h"
#include "base/wire.h"
#include "graph/string_const.h"
#include "model/collections.h"

namespace gedit {
namespace {

// Without links; empty where nothing is there.
std::string resolved(const std::string& path) {
  std::array<char, PATH_MAX> real{};
  if (path.find('\0') != std::string::npos || ::realpath(path.c_str(), real.data()) == nullptr) return "";
  return real.data();
}

bool is_under(std::string_view path, std::string_view folder) {
  if (folder.empty() || !path.starts_with(folder)) return false;
  return folder == "/" || path.size() == folder.size() || path[folder.size()] == '/';
}

bool can_be_read(const std::string& path) {
  struct stat status {};
  return path.find('\0') == std::string::npos && ::stat(path.c_str(), &status) == 0 &&
         S_ISREG(status.st_mode) && ::access(path.c_str(), R_OK) == 0;
}

// The file that an asset's path means; empty where there is none.
std::string find_file(const Model& model, const OwnFiles& own, const std::string& path) {
  std::vector<std::string> places{path};
  if (!path.starts_with('/')) places.push_back(join_path(dir_name(model.path), path));
  if (!model.assets_folder.empty()) {
    if (!path.starts_with('/')) places.push_back(join_path(model.assets_folder, path));
    places.push_back(join_path(model.assets_folder, base_name(path)));
  }
  for (const std::string& place : places) {
    if (own.has(place)) return place;
  }
  for (const std::string& place : places) {
    if (can_be_read(place)) own.require(place);
  }
  return "";
}

std::string asset_file_def(std::string_view tensor, std::string_view file) {
  std::string info, def;
  append_bytes_field(info, 1, tensor);
  append_bytes_field(def, 1, info);
  append_bytes_field(def, 2, file);
  return def;
}

FileDigest digest_of(const std::string& path) {
  const auto input = InputFile::open(path);
  return {input->bytes().size(), crc32c(input->bytes())};
}

bool same_content(const std::string& a, const std::string& b) {
  return a == b || InputFile::open(a)->bytes() == InputFile::open(b)->bytes();
}

}  // namespace

OwnFiles::OwnFiles(const std::string& folder, const InputFile* file, const std::string& assets)
    : folder_(resolved(folder)), assets_(assets.empty() ? "" : resolved(assets)) {
  if (file == nullptr || file->path() == "-") return;
  const std::string real = resolved(file->path());
  if (!real.empty() && !is_under(real, folder_)) store_ = dir_name(real);
}

OwnFiles::OwnFiles(const Model& model)
    : OwnFiles(model.folder.empty() ? std::string(dir_name(model.path)) : model.folder, model.file.get(),
               model.assets_folder) {}

bool OwnFiles::has(const std::string& path) const {
  const std::string real = resolved(path);
  return !real.empty() && can_be_read(real) && (is_of_model(real) || is_under(real, assets_));
}

bool OwnFiles::is_near(const std::string& path) const { return is_of_model(resolved(path)); }

bool OwnFiles::is_of_model(const std::string& real) const {
  return is_under(real, folder_) || (!store_.empty() && dir_name(real) == store_);
}

void OwnFiles::require(const std::string& path) const {
  if (has(path)) return;
  const std::string real = resolved(path);
  const std::string subject = quoted("file", path);
  if (real.empty()) throw Error(Cause::kInput, "leads nowhere").of(subject);
  if (is_directory(real))
    throw Error(Cause::kRefused, "a link to a folder, which is not followed").of(subject);
  struct stat status {};
  if (::stat(real.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    throw Error(Cause::kRefused, "neither a file nor a folder").of(subject);
  if (::access(real.c_str(), R_OK) != 0) throw Error(Cause::kInput, "cannot be read").of(subject);
  const bool link = behind_link(path) != path;
  throw Error(Cause::kRefused, link ? "a link out of the model's folder, to '" + printable(real) + "'"
                                    : "lies outside the model's folder")
      .of(subject)
      .hint("--assets " + printable(dir_name(real)));
}

std::vector<std::string> give_assets(Model& model) {
  MetaGraph& meta = model.meta();
  std::vector<std::string_view> tensors;                    // without a file, in the collection's order
  std::unordered_map<std::string_view, std::string> paths;  // by node
  std::unordered_set<std::string_view> known;
  for (const Asset& asset : assets(meta)) known.insert(node_of(asset.tensor));
  for (const Collection& collection : collections(meta)) {
    if (collection.key != collection_key::kAssetFilepaths || collection.kind != collection_kind::kNodeList)
      continue;
    for (const std::string_view tensor : collection.items) {
      if (!known.insert(node_of(tensor)).second) continue;
      tensors.push_back(tensor);
      paths.emplace(node_of(tensor), "");
    }
  }
  if (tensors.empty()) return {};
  meta.graph.each_node([&](std::string_view node_def) {
    const auto found = paths.find(node_name(node_def));
    if (found == paths.end()) return;
    const auto path = string_const(node_def);
    if (path && path->size() == 1) found->second = path->front();
  });

  std::vector<std::string> warnings, defs;
  AssetNames names;
  const OwnFiles own(model);
  for (const Asset& asset : assets(meta))
    names.place(std::string(asset.file), asset_path(model, std::string(asset.file)));
  for (const std::string_view tensor : tensors) {
    const std::string& path = paths.at(node_of(tensor));
    if (path.empty()) continue;
    const std::string file = find_file(model, own, path);
    if (file.empty()) {
      warnings.push_back("asset '" + printable(path) + "' of '" + printable(node_of(tensor)) +
                         "' is not there: it will be read at that path");
      continue;
    }
    const auto [name, fresh] = names.place(std::string(base_name(path)), file);
    if (fresh) model.asset_files[name] = file;
    defs.push_back(asset_file_def(tensor, name));
  }
  if (defs.empty()) return warnings;
  lift_assets(meta);
  std::vector<std::string> all;
  for (const std::string_view def : meta.parts_of(meta_field::kAsset)) all.emplace_back(def);
  all.insert(all.end(), defs.begin(), defs.end());
  meta.set_parts(meta_field::kAsset, std::move(all));
  return warnings;
}

void lift_assets(MetaGraph& meta) {
  if (meta.has(meta_field::kAsset)) return;
  std::vector<std::string> lifted;
  for (const Collection& collection : collections(meta)) {
    if (collection.key != collection_key::kAssets || collection.kind != collection_kind::kAnyList) continue;
    for (const std::string_view item : collection.items) lifted.emplace_back(last_bytes(item, 2));
  }
  if (!lifted.empty()) meta.set_parts(meta_field::kAsset, std::move(lifted));
}

std::string asset_path(const Model& model, const std::string& name) {
  if (const auto known = model.asset_files.find(name); known != model.asset_files.end()) return known->second;
  const std::string here(dir_name(model.path));
  std::vector<std::string> places;
  if (!model.folder.empty()) {
    places = {join_path(join_path(model.folder, "assets"), name)};
  } else {
    places = {join_path(here, name), join_path(join_path(here, "assets"), name)};
  }
  if (!model.assets_folder.empty()) {
    places.push_back(join_path(model.assets_folder, name));
    places.push_back(join_path(join_path(model.assets_folder, "assets"), name));
  }
  const auto there = std::find_if(places.begin(), places.end(), exists);
  return there == places.end() ? places.front() : *there;
}

std::optional<FileDigest> AssetDigests::of(const std::string& name) {
  const auto [known, fresh] = known_.try_emplace(name);
  if (!fresh) return known->second;
  if (!own_) own_.emplace(model_);
  const std::string path = asset_path(model_, name);
  if (own_->has(path)) known->second = digest_of(path);
  return known->second;
}

std::pair<std::string, bool> AssetNames::place(const std::string& wanted, const std::string& file) {
  Wish& wish = wishes_[wanted];
  if (const auto known = wish.names.find(file); known != wish.names.end()) return {known->second, false};
  std::optional<FileDigest> own;
  // What is not there is told where it is linked.
  if (!wish.names.empty() && can_be_read(file)) {
    if (wish.by_content.empty()) {
      for (const auto& other : wish.names) {
        if (can_be_read(other.first)) wish.by_content.emplace(digest_of(other.first), other);
      }
    }
    own = digest_of(file);
    for (auto [at, end] = wish.by_content.equal_range(*own); at != end; ++at) {
      if (!same_content(at->second.first, file)) continue;
      wish.names.emplace(file, at->second.second);
      return {at->second.second, false};
    }
  }
  const std::string name = first_free(
      wanted, [&](const std::string& one) { return taken_.contains(one); }, wish.next);
  taken_.insert(name);
  wish.names.emplace(file, name);
  if (own) wish.by_content.emplace(*own, std::pair(file, name));
  return {name, true};
}

}  // namespace gedit
