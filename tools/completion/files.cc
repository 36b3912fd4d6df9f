#include "completion/files.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"

namespace gedit {
namespace {

constexpr std::array<std::string_view, 6> kGraphSuffixes = {".pb",   ".pbtxt", ".pb.txt",
                                                            ".meta", ".gtxt",  ".json"};

bool is_graph_file(std::string_view name) {
  return name.find(".tfevents.") != std::string_view::npos ||
         std::any_of(kGraphSuffixes.begin(), kGraphSuffixes.end(),
                     [&](std::string_view suffix) { return name.ends_with(suffix); });
}

// What `name` is called where a checkpoint is meant; empty where it is none.
std::string_view checkpoint_of_file(std::string_view name) {
  constexpr std::string_view kIndex = ".index";
  if (name.ends_with(kIndex)) return name.substr(0, name.size() - kIndex.size());
  return name == "checkpoint" || name.ends_with(".ckpt") || name.ends_with(".ckpt.gtxt") ? name
                                                                                         : std::string_view();
}

template <typename NameOf>
void offer_files_of(Candidates& candidates, const std::string& before, const std::string& path,
                    NameOf name_of) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  const std::string start = path.substr(folder.size());
  std::error_code error;
  bool any = false;
  for (std::filesystem::directory_iterator entry(folder.empty() ? "." : expanded(folder), error), end;
       !error && entry != end && !candidates.enough(); entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (!name.starts_with(start) || (name[0] == '.' && start.empty())) continue;
    std::error_code unknown;
    if (entry->is_directory(unknown)) {
      name += '/';
    } else {
      name = std::string(name_of(name));
    }
    if (name.empty()) continue;
    std::string word = before;
    candidates.offer(word.append(folder).append(name));
    any = true;
  }
  if (!any) candidates.offer_files();
}

}  // namespace

std::string expanded(const std::string& path) {
  const char* home = std::getenv("HOME");
  return path.starts_with("~/") && home != nullptr ? join_path(home, path.substr(2)) : path;
}

void offer_graph_files(Candidates& candidates, const std::string& before, const std::string& path) {
  offer_files_of(candidates, before, path,
                 [](std::string_view name) { return is_graph_file(name) ? name : std::string_view(); });
}

void offer_checkpoints(Candidates& candidates, const std::string& before, const std::string& path) {
  offer_files_of(candidates, before, path, checkpoint_of_file);
}

}  // namespace gedit
