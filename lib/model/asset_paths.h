// The files that a MetaGraphDef names by their paths, when it becomes a SavedModel: they go into its assets/.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/model.h"

namespace gedit {

// Gives an asset_file_def to each Const of collection asset_filepaths that has none, as TensorFlow's
// SavedModelBuilder does (python/saved_model/builder_impl.py): the loader hands it the file's new place. A
// relative path counts from the current folder, else from the model's. What is no file that can be read keeps
// its path; a warning for each comes back.
std::vector<std::string> give_assets(Model& model);

// Assets that are in collection saved_model_assets alone, where TensorFlow kept them before 1.12, become
// asset_file_defs: beside one of these the collection is not looked at.
void lift_assets(MetaGraph& meta);

// Where the file of that name in the model's asset_file_def lies, whether it is there or not.
std::string asset_path(const Model& model, const std::string& name);

// Files that come together in one assets/.
class AssetNames {
 public:
  // What `file` is called there: `wanted`, the name of a file of that wish and the same content, or
  // `wanted_1`, ... And whether it is a file more.
  std::pair<std::string, bool> place(const std::string& wanted, const std::string& file);

 private:
  using Digest = std::pair<uint64_t, uint32_t>;  // size and crc32c
  struct Wish {
    std::unordered_map<std::string, std::string> names;  // file -> name
    // File and name of each content; empty while there is one file, which is not read then.
    std::multimap<Digest, std::pair<std::string, std::string>> by_content;
    int next = 1;
  };

  std::unordered_map<std::string, Wish> wishes_;
  std::unordered_set<std::string> taken_;  // names
};

}  // namespace gedit
