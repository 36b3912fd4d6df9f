// A SavedModel's folder while it is made: complete beside its place before it appears there.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/staged_folder.h"
#include "model/save.h"

namespace gedit {

class OwnFiles;

// An asset of the model, found at `from`. Throws Error (kRefused) where it is not the model's to give
// (OwnFiles).
FolderFile asset_file(const Model& model, const std::string& from, const std::string& to);

class SavedModelFolder {
 public:
  // Throws Error: kRefused where something is at `path` and `overwrite` is not set, or where it is not a
  // SavedModel, or holds something else as well, unless it is `own`: the folder that take_over() is given.
  SavedModelFolder(const std::string& path, bool overwrite, const std::string& own = {});

  // Of a file in the folder that is being made.
  std::string path(std::string_view name) const { return staged_.path(name); }
  // A folder in it; gives its path.
  std::string make(std::string_view name) const { return staged_.make(name); }

  // Everything of the model's folder but its saved_model.pb: variables (unless others are written), assets,
  // other files, linked; the fingerprint where nothing is changed. Throws Error (kRefused) for what is no
  // file of the model's (OwnFiles), or no file at all.
  void take_over(const Model& model, bool variables, bool fingerprint);

  // The files that the assets are (collections.h), each at its asset_path(). Throws Error (kInput) where one
  // is missing.
  void add_assets(const Model& model);

  // Links them into the folder; what is not in its model's folder is copied.
  void add_files(const std::vector<FolderFile>& files);

  // The folder is there; an old one goes last. Throws as StagedFolder does.
  void commit() { staged_.commit(); }

 private:
  StagedFolder staged_;
};

// The prefix under which a checkpoint lies beside a graph file: its path without .meta, .pb, .pbtxt, .gtxt or
// .json.
std::string twin_prefix(std::string_view path);

}  // namespace gedit
