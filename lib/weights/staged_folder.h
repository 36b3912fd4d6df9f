// A folder that is complete beside its place before it appears there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/leftover.h"

namespace gedit {

class StagedFolder {
 public:
  explicit StagedFolder(std::string path);  // throws Error (kWrite)
  ~StagedFolder();
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;

  std::string path(std::string_view name) const;  // of a file in it
  void make(std::string_view name) const;         // a folder in it, and those above

  void commit();  // takes the place of what was at its path, which goes last

 private:
  std::string path_, temporary_;
  std::optional<Leftover> leftover_;  // of `temporary_`
};

}  // namespace gedit
