// The real files that tests go over, where they are at hand: GEDIT_CORPUS, else ../shared/corpus beside the
// sources.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace gedit {

inline std::string corpus_folder() {
  if (const char* chosen = std::getenv("GEDIT_CORPUS")) return chosen;
  return (std::filesystem::path(GEDIT_SOURCE_DIR) / "../shared/corpus").lexically_normal().string();
}

// All files below the folder, sorted; none where it is not there.
inline std::vector<std::string> corpus_files() {
  std::vector<std::string> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus_folder(), none)) {
    if (entry.is_regular_file()) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

constexpr const char* kNoCorpus = "no real files here: set GEDIT_CORPUS to the folder that holds them";

}  // namespace gedit
