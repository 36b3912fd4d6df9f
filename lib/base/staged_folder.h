// A folder that is complete beside its place before it appears there.
#pragma once

#include <string>
#include <string_view>

#include "base/leftover.h"

namespace gedit {

class StagedFolder {
 public:
  // Where `path` is a link to a folder, that folder is meant. Throws Error (kWrite), as all of it does.
  explicit StagedFolder(std::string path);
  ~StagedFolder();
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;

  const std::string& folder() const { return temporary_; }  // where it is until commit()
  std::string path(std::string_view name) const;            // of a file in it
  std::string make(std::string_view name) const;            // a folder in it, and those above; gives its path

  // Takes the place of what was at its path when this was made, which goes last. Throws Error (kRefused)
  // where nothing was, or an empty folder, and now something is there.
  void commit();

 private:
  std::string path_, target_, temporary_;
  bool replaces_ = false;
  Leftover leftover_;  // of `temporary_`
};

}  // namespace gedit
