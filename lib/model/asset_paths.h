// The files that a MetaGraphDef names by their paths, when it becomes a SavedModel: they go into its assets/.
#pragma once

#include <string>
#include <vector>

#include "model/folder.h"
#include "model/model.h"

namespace gedit {

struct AssetPaths {
  std::vector<FolderFile> files;      // what goes into the folder
  std::vector<std::string> warnings;  // of files that are not there
};

// Gives an asset_file_def to each Const of collection asset_filepaths that has none, as TensorFlow's
// SavedModelBuilder does (python/saved_model/builder_impl.py): the loader hands it the file's new place. A
// relative path counts from the current folder, else from the model's. What is not found keeps its path.
AssetPaths give_assets(Model& model);

// Whether two files hold the same bytes.
bool same_content(const std::string& a, const std::string& b);

}  // namespace gedit
