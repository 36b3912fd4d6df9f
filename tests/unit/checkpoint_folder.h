// Checkpoints of tests: a folder for them, and small ones.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "checkpoint/edit.h"
#include "refusal.h"

namespace gedit::checkpoint_test {

namespace fs = std::filesystem;

// An empty folder for one test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "gedit-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  std::string operator()(const std::string& name) const { return (path_ / name).string(); }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path_)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  fs::path path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string floats(std::vector<float> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)};
}

// Tensors of one float each, whose value is their position.
inline Checkpoint with_names(const std::vector<std::string>& names) {
  Checkpoint checkpoint;
  checkpoint.prefix = "memory";
  float value = 0;
  for (const std::string& name : names) add_tensor(checkpoint, name, DType::kFloat, {}, floats({value++}));
  sort_tensors(checkpoint);
  return checkpoint;
}

inline std::vector<std::string> names_of(const Checkpoint& checkpoint) {
  std::vector<std::string> names;
  for (const Tensor& tensor : checkpoint.tensors) names.push_back(tensor.name);
  return names;
}

}  // namespace gedit::checkpoint_test
