// Gives every file of a corpus folder to a fuzz target once, so that what fuzzing has found is run without
// it. All targets are one program, since each would bring the whole library along.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace gedit {
#define GEDIT_FUZZER(name) void fuzz_##name(const uint8_t* data, size_t size);
#include "fuzzers.def"
#undef GEDIT_FUZZER
}  // namespace gedit

namespace {

struct Target {
  std::string_view name;
  void (*run)(const uint8_t* data, size_t size);
};

constexpr Target kTargets[] = {
#define GEDIT_FUZZER(name) {#name, gedit::fuzz_##name},
#include "fuzzers.def"
#undef GEDIT_FUZZER
};

std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  constexpr auto kFollow = std::filesystem::directory_options::follow_directory_symlink;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, kFollow)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void replay(const Target& target, const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  // Of exactly the input's size, so that a sanitizer sees a read past its end.
  const std::vector<uint8_t> input(bytes.begin(), bytes.end());
  target.run(input.data(), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc == 3 ? argv[1] : "";
  const Target* target = std::ranges::find(kTargets, name, &Target::name);
  if (target == std::end(kTargets)) {
    std::fputs("usage: fuzz_replay TARGET CORPUS_FOLDER\n", stderr);
    return 2;
  }
  std::filesystem::path current;
  try {
    size_t count = 0;
    for (const auto& path : files_below(argv[2])) {
      current = path;
      replay(*target, path);
      ++count;
    }
    std::printf("%zu inputs replayed\n", count);
    return count == 0 ? 1 : 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", current.c_str(), error.what());
    return 1;
  }
}
