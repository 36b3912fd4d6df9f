// The files that a MetaGraphDef names by their paths, when it becomes a SavedModel: they go into its assets/.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/model.h"

namespace gedit {

// Which files a model may bring along: those in its folder and in the one that --assets names. A link that
// leads out of the folder is followed where the model's own file is such a link, into the same place: so
// caches of downloads keep them. docs/rules.md#assets
class OwnFiles {
 public:
  // `file` is the model's, or none; `assets` the folder of --assets, or empty.
  OwnFiles(const std::string& folder, const InputFile* file, const std::string& assets);
  explicit OwnFiles(const Model& model);

  bool has(const std::string& path) const;      // a regular file that may be read and taken
  bool is_near(const std::string& path) const;  // the model's own: may be shared, not only copied
  // Throws Error (kRefused) that says where it leads, or that it is no file.
  void require(const std::string& path) const;

 private:
  bool is_of_model(const std::string& real) const;

  std::string folder_, store_, assets_;  // as the kernel resolves them; empty: none
};

// Gives an asset_file_def to each Const of collection asset_filepaths that has none, as TensorFlow's
// SavedModelBuilder does (python/saved_model/builder_impl.py): the loader hands it the file's new place. A
// relative path counts from the current folder, else from the model's; --assets DIR has it under its path or
// its name. What is not there keeps its path; a warning for each comes back. Throws Error (kRefused) for a
// file that is not the model's own.
std::vector<std::string> give_assets(Model& model);

// Assets that are in collection saved_model_assets alone, where TensorFlow kept them before 1.12, become
// asset_file_defs: beside one of these the collection is not looked at.
void lift_assets(MetaGraph& meta);

// Where the file of that name in the model's asset_file_def lies, whether it is there or not.
std::string asset_path(const Model& model, const std::string& name);

// What tells files apart: size and crc32c.
using FileDigest = std::pair<uint64_t, uint32_t>;

// Of a model's assets, each of which is read once, when it is asked for. The model outlives this.
class AssetDigests {
 public:
  explicit AssetDigests(const Model& model) : model_(model) {}
  // Of the file at asset_path(); nothing where it is not there, or not the model's own.
  std::optional<FileDigest> of(const std::string& name);

 private:
  const Model& model_;
  std::optional<OwnFiles> own_;
  std::unordered_map<std::string, std::optional<FileDigest>> known_;
};

// Files that come together in one assets/.
class AssetNames {
 public:
  // What `file` is called there: `wanted`, the name of a file of that wish and the same content, or
  // `wanted_1`, ... And whether it is a file more.
  std::pair<std::string, bool> place(const std::string& wanted, const std::string& file);

 private:
  struct Wish {
    std::unordered_map<std::string, std::string> names;  // file -> name
    // File and name of each content; empty while there is one file, which is not read then.
    std::multimap<FileDigest, std::pair<std::string, std::string>> by_content;
    int next = 1;
  };

  std::unordered_map<std::string, Wish> wishes_;
  std::unordered_set<std::string> taken_;  // names
};

}  // namespace gedit
