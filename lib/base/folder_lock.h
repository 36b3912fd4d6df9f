// One process at a time changes the files of a folder that belong together.
#pragma once

#include <string>

namespace gedit {

// Waits for others that hold it; a process that ends gives it back. File systems that know no locks on
// folders give none, and then all goes on without.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  bool held() const { return held_; }

 private:
  int descriptor_;
  bool held_ = false;
};

}  // namespace gedit
