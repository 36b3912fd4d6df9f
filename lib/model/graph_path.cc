#include "model/graph_path.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "checkpoint/open.h"
#include "model/operand.h"

namespace gedit {
namespace {

constexpr std::string_view kMeta = ".meta";
constexpr std::string_view kEvents = ".tfevents.";  // TensorBoard finds event files by it
constexpr size_t kMostNamed = 3;

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The files beside each other whose name `fits`. The numbers of steps are in their order.
template <typename Fits>
std::vector<std::string> files_of(const std::string& folder, Fits fits) {
  std::vector<std::string> found;
  for (const std::string& name : names_in(folder)) {
    if (fits(std::string_view(name))) found.push_back(join_path(folder, name));
  }
  std::sort(found.begin(), found.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return found;
}

// The .meta files that `fits` takes, by the part of their name that it is given: without `.meta`.
template <typename Fits>
std::vector<std::string> metas(const std::string& folder, Fits fits) {
  return files_of(folder, [&](std::string_view name) {
    return name.ends_with(kMeta) && fits(name.substr(0, name.size() - kMeta.size()));
  });
}

GraphPath taken(const std::string& named, const std::string& meta) {
  return {meta, printable(named) + ": its graph, " + printable(meta) + ", is taken"};
}

// The last ones: of a training that is the newest.
std::string named(const std::vector<std::string>& found) {
  std::string text;
  const size_t first = found.size() > kMostNamed ? found.size() - kMostNamed : 0;
  for (size_t i = first; i < found.size(); ++i)
    text += (text.empty() ? "there are " : ", ") + printable(found[i]);
  if (first > 0) text += " and " + std::to_string(first) + " more";
  return text;
}

GraphPath only_one(const std::string& path, const std::vector<std::string>& found, const char* message) {
  if (found.empty()) return {path};
  if (found.size() == 1) return taken(path, found[0]);
  throw Error(Cause::kInput, message).in(path).hint(named(found));
}

// A checkpoint's file that lies there itself: its graph is named, not taken, since the file is no prefix.
void refuse_checkpoint(const std::string& path) {
  if (!names_checkpoint(path)) return;
  std::string prefix = path;
  if (names_checkpoint_state(path)) {
    const std::optional<Location> latest = find_checkpoint(path);
    if (!latest) return;
    prefix = latest->prefix;
  } else if (path.ends_with(".index")) {
    prefix = path.substr(0, path.size() - 6);
  }
  const std::string meta = prefix + std::string(kMeta);
  if (exists(meta))
    throw Error(Cause::kInput, "a checkpoint").in(path).hint("its graph is " + printable(meta));
}

}  // namespace

GraphPath graph_path(const std::string& path) {
  if (path == "-" || path.empty()) return {path};
  if (is_directory(path)) {
    if (exists(join_path(path, "saved_model.pb")) || exists(join_path(path, "saved_model.pbtxt")))
      return {path};
    const std::vector<std::string> graphs = metas(path, [](std::string_view) { return true; });
    if (!graphs.empty()) return only_one(path, graphs, "a directory with several graphs, and no SavedModel");
    const std::vector<std::string> events =
        files_of(path, [](std::string_view name) { return name.find(kEvents) != std::string_view::npos; });
    return only_one(path, events, "a directory with several event files, and no other graph");
  }
  if (exists(path)) {
    refuse_checkpoint(path);
    return {path};
  }
  if (const std::string meta = path + std::string(kMeta); exists(meta)) return taken(path, meta);
  const std::string_view base = base_name(path);
  const std::string folder = path.find('/') == std::string::npos ? "" : std::string(dir_name(path));
  return only_one(path,
                  metas(folder,
                        [&](std::string_view name) {
                          return name.size() > base.size() + 1 && name.starts_with(base) &&
                                 name[base.size()] == '-' && is_number(name.substr(base.size() + 1));
                        }),
                  "no such file");
}

}  // namespace gedit
