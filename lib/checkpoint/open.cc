#include "checkpoint/open.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/glob.h"
#include "base/near.h"
#include "checkpoint/listing.h"
#include "checkpoint/state.h"
#include "checkpoint/v1.h"

namespace gedit {
namespace {

bool is_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
}

// The files of a directory whose name `fits`, sorted. `dir` ends with its '/', or is empty.
template <typename Fits>
std::vector<std::string> files_of(const std::string& dir, Fits fits) {
  std::vector<std::string> paths;
  for (const std::string& name : names_in(dir)) {
    if (fits(std::string_view(name))) paths.push_back(dir + name);
  }
  return paths;
}

bool is_pattern(std::string_view path) { return path.find_first_of("*?[") != std::string_view::npos; }

// What a shell would make of the pattern. (The C library's glob knows `~user`, for which it brings along all
// that looks up users, on the network as well.)
std::vector<std::string> matches(const std::string& pattern) {
  const std::string dir = pattern.substr(0, pattern.rfind('/') + 1);
  const std::string_view base = std::string_view(pattern).substr(dir.size());
  std::vector<std::string> paths;
  std::vector<std::string> dirs{dir};
  if (is_pattern(dir)) {
    dirs = matches(dir.substr(0, dir.size() - 1));
    for (std::string& one : dirs) one += '/';
  }
  for (const std::string& one : dirs) {
    const auto found = files_of(one, [&](std::string_view name) {
      return (name[0] != '.' || base.starts_with('.')) && glob_match(base, name);
    });
    paths.insert(paths.end(), found.begin(), found.end());
  }
  return paths;
}

// `#` in the shape is a digit, all else is itself.
bool has_shape(std::string_view text, std::string_view shape) {
  return std::equal(text.begin(), text.end(), shape.begin(), shape.end(),
                    [](char c, char like) { return like == '#' ? c >= '0' && c <= '9' : c == like; });
}

// Whether the file is a table whose first record is that of a V1 checkpoint (true) or of a V2 index (false);
// nothing for other files.
std::optional<bool> v1_table(const std::string& path) {
  const auto file = InputFile::open(path);
  if (!looks_like_table(file->bytes())) return std::nullopt;
  const Table table(file);
  std::string unpacked;
  const auto header = table.find("", unpacked);
  return header && !is_bundle_header(*header);
}

// A prefix of either version.
std::optional<Location> at_prefix(const std::string& prefix) {
  if (is_file(index_path(prefix))) return Location{.prefix = prefix};
  if (is_file(prefix) && v1_table(prefix).value_or(false))
    return Location{.prefix = prefix, .v1_files = {prefix}};
  const std::string dir = prefix.substr(0, prefix.rfind('/') + 1);
  const std::string_view base = std::string_view(prefix).substr(dir.size());
  std::vector<std::string> shards = files_of(dir, [&](std::string_view name) {
    return name.starts_with(base) && has_shape(name.substr(base.size()), "-#####-of-#####");
  });
  if (!shards.empty()) {
    return Location{.prefix = prefix, .v1_files = std::move(shards)};
  }
  return std::nullopt;
}

Location from_state(const std::string& path) {
  const auto file = InputFile::open(path);
  const CheckpointState state = parse_state(file->bytes(), path);
  const std::string dir(dir_name(path));
  const bool absolute = state.latest.starts_with('/');
  if (auto found = at_prefix(absolute ? state.latest : join_path(dir, state.latest))) return *found;
  const std::string beside = join_path(dir, base_name(state.latest));
  if (auto found = at_prefix(beside)) {
    found->warning = "'" + printable(state.latest) + "' is gone, reading '" + printable(beside) + "'";
    return *found;
  }
  const auto missing = [&] {
    return Error(Cause::kInput, "names '" + printable(state.latest) + "', and there is no such checkpoint")
        .in(path);
  };
  const std::vector<std::string> there =
      files_of(dir + "/", [](std::string_view name) { return name.ends_with(".index"); });
  if (there.empty()) throw missing();
  const std::string_view last = base_name(there.back());
  throw missing().hint("there is " + printable(last.substr(0, last.size() - 6)) +
                       "; gedit checkpoint state " + printable(dir) + " mends the file");
}

std::optional<Location> saved_model(const std::string& dir) {
  const bool model =
      is_file(join_path(dir, "saved_model.pb")) || is_file(join_path(dir, "saved_model.pbtxt"));
  const std::string prefix = join_path(join_path(dir, "variables"), "variables");
  if (is_file(index_path(prefix))) return Location{.prefix = prefix};
  if (model) throw Error(Cause::kInput, "a SavedModel without variables").in(dir);
  return std::nullopt;
}

std::optional<Location> from_directory(const std::string& dir) {
  if (auto model = saved_model(dir)) return model;
  if (const std::string state = join_path(dir, "checkpoint"); is_file(state)) return from_state(state);
  if (const std::string prefix = join_path(dir, "variables"); is_file(index_path(prefix))) {
    return Location{.prefix = prefix};
  }
  return std::nullopt;
}

std::optional<std::string> without(std::string_view text, std::string_view suffix) {
  if (!text.ends_with(suffix) || text.size() == suffix.size()) return std::nullopt;
  return std::string(text.substr(0, text.size() - suffix.size()));
}

std::optional<Location> from_file(const std::string& path) {
  for (const std::string_view suffix : {".index", ".meta"}) {
    if (const auto prefix = without(path, suffix)) {
      if (auto found = at_prefix(*prefix)) return found;
    }
  }
  if (const auto prefix = prefix_of_data_file(path)) {
    if (auto found = at_prefix(*prefix)) return found;
    throw Error(Cause::kInput, "no such file; a data file is read with its index").in(index_path(*prefix));
  }
  if (base_name(path) == "saved_model.pb" || base_name(path) == "saved_model.pbtxt") {
    return saved_model(std::string(dir_name(path)));
  }
  if (const auto v1 = v1_table(path)) {
    if (*v1) return Location{.prefix = path, .v1_files = {path}};
    throw Error(Cause::kInput, "the index of a checkpoint, but not named so")
        .in(path)
        .hint("name it " + path + ".index");
  }
  const auto file = InputFile::open(path);
  if (looks_like_state(file->bytes())) return from_state(path);
  return std::nullopt;
}

// The checkpoints beside the one that is not there.
std::string hint_near(const std::string& operand) {
  const std::string dir = is_directory(operand) ? operand : std::string(dir_name(operand));
  Near near(base_name(operand));
  std::vector<std::string> prefixes;
  for (const std::string& index :
       files_of(dir + "/", [](std::string_view name) { return name.ends_with(".index"); })) {
    if (const auto prefix = without(base_name(index), ".index")) {
      near.offer(*prefix);
      prefixes.push_back(*prefix);
    }
  }
  if (is_directory(operand)) {
    if (prefixes.empty()) return {};
    return "name one of its checkpoints: " + join_path(operand, prefixes.front());
  }
  return near.did_you_mean();
}

}  // namespace

std::optional<std::string> prefix_of_data_file(std::string_view path) {
  constexpr std::string_view kShape = ".data-#####-of-#####";
  if (path.size() <= kShape.size()) return std::nullopt;
  if (!has_shape(path.substr(path.size() - kShape.size()), kShape)) return std::nullopt;
  return std::string(path.substr(0, path.size() - kShape.size()));
}

std::optional<Location> find_checkpoint(const std::string& operand) {
  if (is_directory(operand)) {
    if (auto found = from_directory(operand)) return found;
    return at_prefix(operand);  // a prefix may have a directory's name
  }
  if (is_file(operand) && !is_file(index_path(operand))) {
    if (auto found = from_file(operand)) return found;
  }
  if (auto found = at_prefix(operand)) return found;
  for (const std::string_view suffix : {".index", ".meta"}) {  // the file itself may be gone
    if (const auto prefix = without(operand, suffix); prefix && !is_file(operand)) {
      if (auto found = at_prefix(*prefix)) return found;
    }
  }
  if (is_pattern(operand)) {
    std::vector<std::string> files = matches(operand);
    std::erase_if(files,
                  [](const std::string& path) { return !is_file(path) || !v1_table(path).value_or(false); });
    if (!files.empty()) return Location{.prefix = operand, .v1_files = std::move(files)};
  }
  return std::nullopt;
}

Location locate_checkpoint(const std::string& operand) {
  if (auto found = find_checkpoint(operand)) return *found;
  std::string what = "no such checkpoint";
  if (is_directory(operand)) what = "a directory without a checkpoint state file";
  if (is_file(operand)) {
    refuse_lfs_pointer(*InputFile::open(operand));
    what = "not a checkpoint";
  }
  throw Error(Cause::kInput, what).in(operand).hint(hint_near(operand));
}

Checkpoint open_checkpoint(const Location& location) {
  return location.v1_files.empty() ? read_bundle(location.prefix)
                                   : read_v1(location.v1_files, location.prefix);
}

Checkpoint open_checkpoint(const std::string& operand, std::vector<std::string>* warnings) {
  if (is_checkpoint_listing(operand)) {
    const auto file = InputFile::open(operand);
    return parse_checkpoint_listing(file->bytes(), operand);
  }
  const Location location = locate_checkpoint(operand);
  if (warnings != nullptr && !location.warning.empty()) warnings->push_back(location.warning);
  return open_checkpoint(location);
}

}  // namespace gedit
