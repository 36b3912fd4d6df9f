#include "weights/training_state.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/error.h"
#include "base/file.h"
#include "checkpoint/bundle.h"
#include "checkpoint/state.h"

#include <fmt/core.h>

namespace gedit {
namespace {

constexpr std::string_view kIndexSuffix = ".index";

std::string state_path(const std::string& folder) { return join_path(folder, "checkpoint"); }

// A string of protobuf's text format.
std::string text_literal(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += '\\';
      for (const int shift : {6, 3, 0}) out += static_cast<char>('0' + ((byte >> shift) & 7));
    } else {
      out += c;
    }
  }
  out += '"';
  return out;
}

// A path of a state file as one below the folder: an absolute one may be from before the folder was moved.
std::string below(const std::string& folder, const std::string& path) {
  if (!path.starts_with('/') && exists(index_path(join_path(folder, path)))) return path;
  return std::string(base_name(path));
}

std::vector<std::string> by_time(const std::string& folder) {
  std::vector<std::tuple<int64_t, int64_t, std::string>> found;
  for (const std::string& name : names_in(folder)) {
    struct stat status {};
    if (!name.ends_with(kIndexSuffix) || ::stat(join_path(folder, name).c_str(), &status) != 0) continue;
    found.emplace_back(status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
                       name.substr(0, name.size() - kIndexSuffix.size()));
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> names;
  for (auto& [seconds, nanoseconds, name] : found) names.push_back(std::move(name));
  return names;
}

// Those that the state file has and that are there, the latest one last; nothing without such a file.
std::vector<std::string> noted(const std::string& folder) {
  const std::string path = state_path(folder);
  if (!exists(path)) return {};
  const auto file = InputFile::open(path);
  CheckpointState state = parse_state(file->bytes(), path);
  state.all.push_back(state.latest);
  std::vector<std::string> names;
  for (const std::string& one : state.all) {
    std::string name = below(folder, one);
    if (!exists(index_path(join_path(folder, name)))) continue;
    names.erase(std::remove(names.begin(), names.end(), name), names.end());
    names.push_back(std::move(name));
  }
  return names;
}

// When the checkpoints were written, as the state file has it. A CheckpointManager deletes those alone of
// which it does (python/checkpoint/checkpoint_management.py).
struct Times {
  std::map<std::string, double> of;  // seconds since 1970, by name below the folder
  double preserved = 0;              // last_preserved_timestamp
};
Times times_of(const std::string& folder) {
  const std::string path = state_path(folder);
  if (!exists(path)) return {};
  CheckpointState state;
  try {
    state = parse_state(InputFile::open(path)->bytes(), path);
  } catch (const Error&) {  // it is written anew
    return {};
  }
  Times times{.of = {}, .preserved = state.preserved};
  for (size_t i = 0; i < std::min(state.all.size(), state.times.size()); ++i)
    times.of[below(folder, state.all[i])] = state.times[i];
  return times;
}

double written_at(const std::string& folder, const std::string& name) {
  struct stat status {};
  if (::stat(index_path(join_path(folder, name)).c_str(), &status) != 0) return 0;
  return static_cast<double>(status.st_mtim.tv_sec) + static_cast<double>(status.st_mtim.tv_nsec) * 1e-9;
}

}  // namespace

std::vector<std::string> known_checkpoints(const std::string& folder) {
  std::vector<std::string> names = noted(folder);
  if (names.empty()) names = by_time(folder);
  if (names.empty()) throw Error(Cause::kInput, "a folder without checkpoints").in(folder);
  return names;
}

void write_state(const std::string& folder, const std::vector<std::string>& names) {
  std::string text = "model_checkpoint_path: " + text_literal(names.back()) + "\n";
  for (const std::string& name : names) {
    text += "all_model_checkpoint_paths: ";
    text += text_literal(name);
    text += "\n";
  }
  const Times times = times_of(folder);
  if (!times.of.empty()) {
    for (const std::string& name : names) {
      const auto known = times.of.find(name);
      text += fmt::format("all_model_checkpoint_timestamps: {}\n",
                          known != times.of.end() ? known->second : written_at(folder, name));
    }
  }
  if (times.preserved != 0) text += fmt::format("last_preserved_timestamp: {}\n", times.preserved);
  OutputFile out(state_path(folder), true);
  out.write(text);
  out.commit();
}

void note_checkpoint(const std::string& prefix) {
  const std::string folder(dir_name(prefix));
  const std::string name(base_name(prefix));
  std::vector<std::string> names = noted(folder);
  names.erase(std::remove(names.begin(), names.end(), name), names.end());
  names.push_back(name);
  write_state(folder, names);
}

}  // namespace gedit
