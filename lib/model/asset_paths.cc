#include "model/asset_paths.h"

#include <sys/stat.h>
#include <unistd.h>

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

bool can_be_read(const std::string& path) {
  struct stat status {};
  return path.find('\0') == std::string::npos && ::stat(path.c_str(), &status) == 0 &&
         S_ISREG(status.st_mode) && ::access(path.c_str(), R_OK) == 0;
}

// Empty where there is none.
std::string find_file(const std::string& path, const std::string& folder) {
  if (can_be_read(path)) return path;
  const std::string beside = join_path(folder, path);
  return !path.starts_with('/') && can_be_read(beside) ? beside : "";
}

std::string asset_file_def(std::string_view tensor, std::string_view file) {
  std::string info, def;
  append_bytes_field(info, 1, tensor);
  append_bytes_field(def, 1, info);
  append_bytes_field(def, 2, file);
  return def;
}

bool same_content(const std::string& a, const std::string& b) {
  return a == b || InputFile::open(a)->bytes() == InputFile::open(b)->bytes();
}

}  // namespace

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
  for (const Asset& asset : assets(meta))
    names.place(std::string(asset.file), asset_path(model, std::string(asset.file)));
  for (const std::string_view tensor : tensors) {
    const std::string& path = paths.at(node_of(tensor));
    if (path.empty()) continue;
    const std::string file = find_file(path, std::string(dir_name(model.path)));
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
  if (!model.folder.empty()) return join_path(join_path(model.folder, "assets"), name);
  const std::string beside = join_path(dir_name(model.path), name);
  return exists(beside) ? beside : join_path(join_path(dir_name(model.path), "assets"), name);
}

std::pair<std::string, bool> AssetNames::place(const std::string& wanted, const std::string& file) {
  const auto digest = [](const std::string& path) {
    const auto input = InputFile::open(path);
    return Digest{input->bytes().size(), crc32c(0, input->bytes())};
  };
  Wish& wish = wishes_[wanted];
  if (const auto known = wish.names.find(file); known != wish.names.end()) return {known->second, false};
  std::optional<Digest> own;
  // What is not there is told where it is linked.
  if (!wish.names.empty() && can_be_read(file)) {
    if (wish.by_content.empty()) {
      for (const auto& other : wish.names) {
        if (can_be_read(other.first)) wish.by_content.emplace(digest(other.first), other);
      }
    }
    own = digest(file);
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
