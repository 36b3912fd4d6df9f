#include "model/asset_paths.h"

#include <map>
#include <set>

#include "base/error.h"
#include "graph/names.h"
#include "model/collections.h"
#include "model/savers.h"

namespace gedit {
namespace {

constexpr std::string_view kCollection = "asset_filepaths";

// Where the file lies; empty where it does not.
std::string find_file(const std::string& path, const std::string& folder) {
  for (const std::string& candidate : {path, join_path(folder, path)}) {
    if (exists(candidate) && !is_directory(candidate)) return candidate;
  }
  return {};
}

std::string asset_file_def(std::string_view tensor, std::string_view file) {
  std::string info, def;
  append_bytes_field(info, 1, tensor);
  append_bytes_field(def, 1, info);
  append_bytes_field(def, 2, file);
  return def;
}

}  // namespace

bool same_content(const std::string& a, const std::string& b) {
  if (a == b) return true;
  if (!exists(a) || !exists(b) || is_directory(a) || is_directory(b)) return false;
  return InputFile::open(a)->bytes() == InputFile::open(b)->bytes();
}

AssetPaths give_assets(Model& model) {
  AssetPaths given;
  MetaGraph& meta = model.meta();
  std::set<std::string_view> known;            // nodes that have one
  std::map<std::string, std::string> by_name;  // in assets/ -> the file
  for (const Asset& asset : assets(meta)) {
    known.insert(node_of(asset.tensor));
    by_name.emplace(asset.file, "");  // whatever it is, it is another one
  }
  std::vector<std::string> defs;
  for (const std::string_view def : meta.parts_of(meta_field::kAsset)) defs.emplace_back(def);
  const size_t before = defs.size();
  meta.graph.decode();
  const Names names(meta.graph);
  const std::string folder(dir_name(model.path));
  for (const Collection& collection : collections(meta)) {
    if (collection.key != kCollection || collection.kind != collection_kind::kNodeList) continue;
    for (const std::string_view tensor : collection.items) {
      const NodeId id = names.find(node_of(tensor));
      if (id == kNoNode || !known.insert(node_of(tensor)).second) continue;
      const auto path = string_const(meta.graph.bytes(id));
      if (!path || path->size() != 1 || path->front().empty()) continue;
      const std::string file = find_file(path->front(), folder);
      if (file.empty()) {
        given.warnings.push_back("asset '" + printable(path->front()) + "' of '" +
                                 printable(node_of(tensor)) + "' is not there: it will be read at that path");
        continue;
      }
      const std::string name(base_name(path->front()));
      std::string to = name;
      for (int number = 1;; ++number) {
        const auto [other, fresh] = by_name.emplace(to, file);
        if (fresh) given.files.push_back({file, join_path("assets", to)});
        if (fresh || same_content(other->second, file)) break;
        to = name + "_" + std::to_string(number);
      }
      defs.push_back(asset_file_def(tensor, to));
    }
  }
  if (defs.size() > before) meta.set_parts(meta_field::kAsset, std::move(defs));
  return given;
}

}  // namespace gedit
