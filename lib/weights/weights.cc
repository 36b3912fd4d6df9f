// Which kind of file it is, and what all kinds share.
#include "weights/weights.h"

#include <sys/stat.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "checkpoint/list.h"
#include "checkpoint/listing.h"
#include "checkpoint/open.h"
#include "model/model.h"
#include "weights/graph.h"
#include "weights/npy.h"
#include "weights/npy_folder.h"
#include "weights/npz.h"
#include "weights/safetensors.h"

namespace gedit {
namespace {

bool by_weight_name(const Weight& a, const Weight& b) { return a.name < b.name; }

Weights single_npy(const std::shared_ptr<const InputFile>& file, bool skip) {
  try {
    const NpyHeader header = parse_npy_header(file->bytes().substr(0, kMostNpyHeader));
    Weights weights;
    weights.path = file->path();
    std::string_view name = base_name(file->path());
    if (name.ends_with(".npy")) name.remove_suffix(4);
    if (leaves_out(header, std::string(name), skip, weights)) return weights;
    if (file->bytes().size() - header.length != header.size) {
      throw Error(Cause::kInput, std::to_string(file->bytes().size() - header.length) +
                                     " bytes of elements are there, its header says " +
                                     std::to_string(header.size));
    }
    weights.weights.push_back({std::string(name), header.dtype, header.shape,
                               npy_values(header, file_values(file, header.length, header.size))});
    return weights;
  } catch (const Error& error) {
    throw error.in(file->path());
  }
}

Weights constants(const std::string& path) {
  Weights weights = graph_weights(std::make_shared<const Model>(load(path)));
  if (weights.weights.empty()) throw Error(Cause::kInput, "a graph without constants").in(path);
  return weights;
}

bool saved_model_without_variables(const std::string& path) {
  const std::string folder = is_directory(path) ? path : std::string(dir_name(path));
  const bool model = is_directory(path) ? exists(join_path(path, "saved_model.pb")) ||
                                              exists(join_path(path, "saved_model.pbtxt"))
                                        : base_name(path).starts_with("saved_model.pb");
  return model && !exists(join_path(folder, "variables/variables.index"));
}

}  // namespace

const Weight* Weights::find(std::string_view name) const {
  const auto place =
      std::lower_bound(weights.begin(), weights.end(), name,
                       [](const Weight& weight, std::string_view n) { return weight.name < n; });
  return place != weights.end() && place->name == name ? &*place : nullptr;
}

void sort_weights(Weights& weights) {
  std::vector<Weight>& all = weights.weights;
  if (!std::is_sorted(all.begin(), all.end(), by_weight_name))
    std::sort(all.begin(), all.end(), by_weight_name);
  const auto twin = std::adjacent_find(all.begin(), all.end(),
                                       [](const Weight& a, const Weight& b) { return a.name == b.name; });
  if (twin != all.end())
    throw Error(Cause::kInput, "is there twice").of(tensor_subject(twin->name)).in(weights.path);
}

uint64_t size_of_numbers(DType dtype, const std::vector<int64_t>& shape) {
  const uint64_t elements = element_count(shape), width = dtype_width(dtype);
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  uint64_t count = 1;
  bool overflows = width != 0 && elements > kMost / width;
  for (const int64_t dimension : shape) {
    const auto size = static_cast<uint64_t>(dimension);
    overflows = overflows || (size != 0 && count > kMost / size);
    count *= size;
  }
  if (overflows) throw Error(Cause::kInput, "shape overflows");
  return elements * width;
}

std::string weight_text(const Weight& weight) {
  std::string text = dtype_name(weight.dtype) + " " + shape_text(weight.shape);
  if (weight.parts.empty()) return text;
  text += ", of which there is";
  for (size_t i = 0; i < weight.parts.size(); ++i)
    text += (i == 0 ? " " : " and ") + slice_text(weight.parts[i]);
  return text;
}

Weights open_weights(const std::string& path, bool skip) {
  struct stat status {};
  if (!is_checkpoint_listing(path)) {
    const bool there = ::stat(path.c_str(), &status) == 0;
    const auto named = [&](std::string_view suffix) { return path.ends_with(suffix); };
    if (!there && (named(".npz") || named(".npy") || named(".safetensors")))
      throw Error(Cause::kInput, "no such file").in(path);
    if (there && S_ISREG(status.st_mode) && !exists(index_path(path))) {
      const auto file = InputFile::open(path);
      const std::string_view bytes = file->bytes();
      if (looks_like_zip(bytes) || path.ends_with(".npz")) return read_npz(file, skip);
      if (looks_like_npy(bytes) || path.ends_with(".npy")) return single_npy(file, skip);
      if (looks_like_safetensors(bytes) || path.ends_with(".safetensors")) return read_safetensors(file);
    }
    if (saved_model_without_variables(path)) return constants(path);
    if (is_directory(path) && !find_checkpoint(path)) {
      if (looks_like_npy_folder(path)) return read_npy_folder(path, skip);
      if (path.ends_with('/'))
        throw Error(Cause::kInput, "a folder without .npy files or a checkpoint").in(path);
    }
  }
  std::vector<std::string> warnings;
  const bool graph =
      path == "-" || (!is_checkpoint_listing(path) && S_ISREG(status.st_mode) && !find_checkpoint(path));
  if (graph) return constants(path);
  Weights weights = checkpoint_weights(open_checkpoint(path, &warnings));
  weights.warnings = std::move(warnings);
  return weights;
}

}  // namespace gedit
