// Assets of several models: docs/rules.md#merge-assets.
#include <algorithm>
#include <map>
#include <unordered_set>

#include "base/error.h"
#include "edit/merging/around.h"
#include "model/asset_paths.h"
#include "model/collections.h"
#include "model/folder.h"

namespace gedit {
namespace {

constexpr uint32_t kFilename = 2;  // AssetFileDef

// An AssetFileDef with the file's new name.
std::string with_filename(std::string_view asset, const std::map<std::string, std::string>& names) {
  const auto found = names.find(std::string(last_bytes(asset, kFilename)));
  if (found == names.end()) return std::string(asset);
  std::string renamed;
  for (Fields fields(asset); fields.next();) {
    if (fields->bytes(kFilename)) {
      append_bytes_field(renamed, kFilename, found->second);
    } else {
      renamed += fields->raw;
    }
  }
  return renamed;
}

// The same in saved_model_assets, where TensorFlow 1 keeps them a second time, as Any messages.
void rename_in_collections(MetaGraph& meta, const std::map<std::string, std::string>& names) {
  std::vector<std::string> entries;
  for (const Collection& collection : collections(meta)) {
    if (collection.kind != collection_kind::kAnyList) {
      entries.emplace_back(collection.entry);
      continue;
    }
    std::vector<std::string> items;
    for (const std::string_view item : collection.items) {
      if (!last_bytes(item, 1).ends_with("/tensorflow.AssetFileDef")) {
        items.emplace_back(item);
        continue;
      }
      std::string any;
      append_bytes_field(any, 1, last_bytes(item, 1));
      append_bytes_field(any, 2, with_filename(last_bytes(item, 2), names));
      items.push_back(std::move(any));
    }
    entries.push_back(collection_entry(collection.key, collection.kind, items));
  }
  meta.set_parts(meta_field::kCollection, std::move(entries));
}

}  // namespace

std::vector<FolderFile> MergedSurroundings::unite_assets(MetaGraph& meta, const std::string& folder) {
  const bool listed = std::any_of(parts_.begin(), parts_.end(), [](const auto& part) {
    return part->model.meta().has(meta_field::kAsset);
  });
  for (const auto& part : parts_) lift_assets(part->model.meta());
  AssetNames names;
  std::vector<FolderFile> added;
  // The folder's own files have their names already.
  for (const bool own : {true, false}) {
    for (const auto& part : parts_) {
      const bool here = !folder.empty() && part->model.folder == folder;
      if (here != own) continue;
      std::map<std::string, std::string> renamed;
      for (const std::string_view asset : part->model.meta().parts_of(meta_field::kAsset)) {
        const std::string name(last_bytes(asset, kFilename));
        if (name.empty() || name != base_name(name) || name == "..") {
          throw Error(Cause::kInput, "not the name of a file").in(part->model.path).of(quoted("asset", name));
        }
        const std::string path = asset_path(part->model, name);
        if (exists(path)) asset_file(part->model, path, name);  // refused before it is read
        const auto [to, fresh] = names.place(name, path);
        if (fresh && !here) added.push_back(asset_file(part->model, path, join_path("assets", to)));
        if (to != name) renamed[name] = to;
      }
      if (renamed.empty()) continue;
      std::vector<std::string> assets;
      for (const std::string_view asset : part->model.meta().parts_of(meta_field::kAsset))
        assets.push_back(with_filename(asset, renamed));
      part->model.meta().set_parts(meta_field::kAsset, std::move(assets));
      rename_in_collections(part->model.meta(), renamed);
    }
  }
  std::vector<std::string> assets;
  std::unordered_set<std::string> known;  // of the operands before
  for (const auto& part : parts_) {
    const size_t before = assets.size();
    const bool numbered = part->model.meta().has(meta_field::kObjectGraph);
    first_assets_.push_back(static_cast<uint32_t>(before));
    for (const std::string_view asset : part->model.meta().parts_of(meta_field::kAsset)) {
      // Of two operands that share the node; objects know theirs by number.
      if (!numbered && known.contains(std::string(asset))) continue;
      assets.emplace_back(asset);
    }
    known.insert(assets.begin() + static_cast<std::ptrdiff_t>(before), assets.end());
  }
  if (!listed) assets.clear();  // the collections say it all
  meta.set_parts(meta_field::kAsset, std::move(assets));
  return added;
}

}  // namespace gedit
