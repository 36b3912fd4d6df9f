// A SavedModel's folder while it is made: complete beside its place before it appears there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"

namespace gedit {

// A file that goes into a SavedModel's folder; `to` is below it: assets/vocab.txt.
struct FolderFile {
  std::string from, to;
};

class SavedModelFolder {
 public:
  // Throws Error: kRefused where something is at `path` and `overwrite` is not set, or where it is not a
  // SavedModel.
  SavedModelFolder(std::string path, bool overwrite);
  ~SavedModelFolder();
  SavedModelFolder(const SavedModelFolder&) = delete;
  SavedModelFolder& operator=(const SavedModelFolder&) = delete;

  std::string path(std::string_view name) const;  // of a file in the folder that is being made
  std::string make(std::string_view name) const;  // a folder in it; gives its path

  // Everything of the folder `from` but its saved_model.pb: variables (unless others are written), assets,
  // other files, linked. The fingerprint describes the file that it lies beside and stays behind.
  void take_over(const std::string& from, bool variables);

  // The files that the assets are (collections.h), each at its asset_path(). Throws Error (kInput) where one
  // is missing.
  void add_assets(const Model& model);

  // Links them into the folder.
  void add_files(const std::vector<FolderFile>& files);

  void commit();  // the folder is there; an old one goes last

 private:
  std::string path_, temporary_;
  bool overwrite_;
};

// The prefix under which a checkpoint lies beside a graph file: its path without .meta, .pb, .pbtxt, .gtxt or
// .json.
std::string twin_prefix(std::string_view path);

}  // namespace gedit
