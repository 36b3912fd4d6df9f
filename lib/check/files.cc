// What of a model's files leads out of its folder.
#include <algorithm>
#include <filesystem>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "check/surroundings.h"
#include "graph/string_const.h"
#include "model/asset_paths.h"
#include "model/collections.h"

namespace gedit {
namespace {

namespace fs = std::filesystem;

// Paths below the folder, in order; no link is followed.
std::vector<std::string> entries_below(const std::string& folder) {
  std::vector<std::string> found, open{folder};
  std::error_code code;
  while (!open.empty()) {
    const std::string at = std::move(open.back());
    open.pop_back();
    for (const fs::directory_entry& entry : fs::directory_iterator(at, code)) {
      const bool inside = entry.is_directory(code) && !entry.is_symlink(code);
      (inside ? open : found).push_back(entry.path().string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

void check_files(const Model& model, const MetaGraph& meta, Report& report) {
  const OwnFiles own(model);
  if (model.kind == Kind::kSavedModel && model.directory) {
    for (const std::string& path : entries_below(model.folder)) {
      try {
        own.require(path);
      } catch (const Error& error) {
        report.add(Rule::kUnsafeFile,
                   path.substr(model.folder.size() + (model.folder.ends_with('/') ? 0 : 1)), error.message());
      }
    }
  }
  std::unordered_set<std::string_view> named;
  for (const Collection& collection : collections(meta)) {
    if (collection.key != collection_key::kAssetFilepaths || collection.kind != collection_kind::kNodeList)
      continue;
    for (const std::string_view tensor : collection.items) named.insert(node_of(tensor));
  }
  if (named.empty()) return;
  meta.graph.each_record([&](std::string_view node_def) {
    if (!named.contains(node_name(node_def))) return;
    const auto path = string_const(node_def);
    if (!path || path->size() != 1 || path->front().empty()) return;
    const std::string file =
        path->front().starts_with('/') ? path->front() : join_path(dir_name(model.path), path->front());
    if (exists(file) && !own.has(file))
      report.add(Rule::kUnsafeFile, std::string(node_name(node_def)),
                 "an asset outside the model's folder, '" + path->front() + "'");
  });
}

}  // namespace gedit
