// The real files that unit tests go over: testdata/, and the corpus of GEDIT_SHARED where that is set.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace gedit {

// Empty where GEDIT_SHARED names no folder.
inline std::string corpus_folder() {
  const char* shared = std::getenv("GEDIT_SHARED");
  return shared != nullptr && *shared != '\0' ? std::string(shared) + "/corpus" : std::string();
}

// All files below both folders, sorted.
inline std::vector<std::string> corpus_files() {
  std::vector<std::string> files;
  for (const std::string& folder : {std::string(GEDIT_SOURCE_DIR) + "/testdata", corpus_folder()}) {
    std::error_code none;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, none)) {
      if (entry.is_regular_file()) files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// As many as a test is to have looked at: of testdata/ alone, or of the corpus too.
inline size_t at_least(size_t of_testdata, size_t with_corpus) {
  return corpus_folder().empty() ? of_testdata : with_corpus;
}

}  // namespace gedit
