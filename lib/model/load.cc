#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/wire.h"
#include "model/detect.h"
#include "model/events.h"
#include "model/json.h"
#include "model/listing.h"
#include "model/model.h"
#include "model/tensor_index.h"
#include "model/text.h"

namespace gedit {
namespace {

constexpr std::string_view kBinaryName = "saved_model.pb", kTextName = "saved_model.pbtxt";

std::string tags_text(const std::vector<std::string_view>& tags) {
  std::string text;
  for (const std::string_view tag : tags) text += (text.empty() ? "" : ",") + printable(tag);
  return "{" + text + "}";
}

void select_meta_graph(Model& model, const std::vector<std::string>& wanted) {
  if (model.meta_graphs.empty()) throw Error(Cause::kInput, "holds no MetaGraph").in(model.path);
  if (wanted.empty()) return;
  const std::set<std::string_view> set(wanted.begin(), wanted.end());
  std::string there;
  for (size_t i = 0; i < model.meta_graphs.size(); ++i) {
    const std::vector<std::string_view> found = tags(model.meta_graphs[i]);
    // Order and repetition do not count (cc/saved_model/reader.cc).
    if (std::set<std::string_view>(found.begin(), found.end()) == set) {
      model.selected = i;
      return;
    }
    there += (there.empty() ? "" : " ") + tags_text(found);
  }
  std::string asked;
  for (const std::string& tag : wanted) asked += (asked.empty() ? "" : ",") + tag;
  throw Error(Cause::kRefused, "no MetaGraph with exactly these tags")
      .in(model.path)
      .of(quoted("tag set", asked))
      .hint("it has " + there);
}

// The file of the SavedModel in a folder; empty where there is none.
std::string saved_model_in(const std::string& folder) {
  for (const std::string_view name : {kBinaryName, kTextName}) {
    std::string path = join_path(folder, name);
    if (exists(path)) return path;
  }
  return "";
}

std::string find_in_folder(const std::string& folder) {
  std::string found = saved_model_in(folder);
  if (!found.empty()) return found;
  // Of a model for serving each version is a folder.
  constexpr size_t kMostNamed = 4;
  std::vector<std::string> below;
  for (const std::string& name : names_in(folder)) {
    std::string path = join_path(folder, name);
    if (!saved_model_in(path).empty()) below.push_back(std::move(path));
  }
  std::string hint;
  for (size_t i = 0; i < below.size() && i < kMostNamed; ++i)
    hint += (i > 0 ? ", " : below.size() == 1 ? "there is " : "there are ") + printable(below[i]);
  throw Error(Cause::kInput, "a directory without saved_model.pb or saved_model.pbtxt")
      .in(folder)
      .hint(below.size() > kMostNamed ? hint + ", ..." : hint);
}

// What the user says it is; the format is still found from the content, and binary where nothing can be
// found.
Detected detect_as(std::string_view bytes, const std::string& path, Kind kind) {
  if (identify(bytes) != Content::kGraph) return {kind, Format::kBinary};
  return {kind, detect(bytes, path).format};
}

std::string parse(Kind kind, Format format, const InputFile& file, const LoadOptions& options, Kind& found) {
  found = kind;
  switch (format) {
    case Format::kText:
      return parse_text(kind, file.bytes(), file.path());
    case Format::kJson:
      return parse_json(kind, file.bytes(), file.path());
    default:
      break;
  }
  if (options.tensors_from.empty()) {
    ParsedListing listing = parse_listing(file.bytes(), file.path(), nullptr);
    found = listing.kind;
    return std::move(listing.message);
  }
  const Model source = load(options.tensors_from);
  TensorIndex tensors;
  with_file(source, [&] { tensors.add(source.kind, source.message); });
  ParsedListing listing = parse_listing(file.bytes(), file.path(), &tensors);
  found = listing.kind;
  return std::move(listing.message);
}

Model load_events(const std::string& path, std::shared_ptr<const InputFile> file,
                  const LoadOptions& options) {
  EventGraphs found;
  try {
    found = read_events(file->bytes(), options.as);
    if (!found.graph && !options.without_graph) {
      const char* missing = options.as == Kind::kMetaGraphDef ? "an event file without a MetaGraphDef"
                            : options.as == Kind::kSavedModel ? "an event file, which holds no SavedModel"
                            : options.as                      ? "an event file without a GraphDef"
                                                              : "an event file without a graph";
      const bool other = options.as && read_events(file->bytes(), std::nullopt).graph;
      throw Error(Cause::kInput, missing).in(path).hint(other ? "it holds one of another kind" : "");
    }
    const EventGraph graph = found.graph.value_or(EventGraph{Kind::kGraphDef, {}});
    Model model = model_of(path, graph.kind, Format::kBinary, graph.message, std::make_shared<Arena>());
    if (!found.graph) model.meta_graphs.clear();
    model.file = std::move(file);
    model.events = found.events;
    model.cut = found.cut;
    return model;
  } catch (const Malformed& error) {
    rethrow_in(error, file->bytes(), path);
  }
}

}  // namespace

Model load(const std::string& path, const LoadOptions& options) {
  const bool folder = path != "-" && is_directory(path);
  const std::string file_path = folder ? find_in_folder(path) : path;
  std::shared_ptr<const InputFile> file = InputFile::open(file_path);
  if (file->bytes().empty()) throw Error(Cause::kInput, "an empty file").in(file_path);
  if (records_in(file->bytes()) == Records::kEvents) return load_events(path, std::move(file), options);
  const Detected detected =
      options.as ? detect_as(file->bytes(), file_path, *options.as) : detect(file->bytes(), file_path);

  auto arena = std::make_shared<Arena>();
  Kind kind = detected.kind;
  std::string_view message = file->bytes();
  if (detected.format != Format::kBinary) {
    message = arena->keep(parse(detected.kind, detected.format, *file, options, kind));
  }
  try {
    Model model = model_of(path, kind, detected.format, message, std::move(arena));
    model.file = std::move(file);
    model.verbatim = options.tensors_from.empty();
    if (kind == Kind::kSavedModel) {
      const std::string_view name = base_name(file_path);
      model.directory = folder || name == kBinaryName || name == kTextName;
      // A text of another name lies in no SavedModel's folder: what is beside it is the user's own.
      if (model.directory) model.folder = folder ? path : std::string(dir_name(path));
      select_meta_graph(model, options.tag_set);
    }
    return model;
  } catch (const Malformed& error) {
    rethrow_in(error, message, path);
  }
}

}  // namespace gedit
