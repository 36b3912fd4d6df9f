#include "weights/import.h"

#include <algorithm>
#include <cstring>

#include "base/argument_list.h"
#include "base/error.h"
#include "checkpoint/list.h"
#include "checkpoint/values.h"
#include "weights/cast_values.h"

namespace gedit {
namespace {

constexpr std::string_view kValueOfObject = "/.ATTRIBUTES/VARIABLE_VALUE";

// By position in the checkpoint, which weight is its value; and what has none.
const Weight* value_for(const Weights& weights, const Tensor& tensor) {
  if (const Weight* weight = weights.find(tensor.name)) return weight;
  if (!tensor.name.ends_with(kValueOfObject)) return nullptr;
  return weights.find(tensor.name.substr(0, tensor.name.size() - kValueOfObject.size()));
}

void require_same(const Weight& weight, const Tensor& tensor, const Weights& weights,
                  const Checkpoint& into) {
  if (weight.dtype == tensor.dtype && weight.shape == tensor.shape) return;
  std::string way_out;
  if (weight.dtype != tensor.dtype && can_be_cast(weight.dtype) && is_floating(tensor.dtype)) {
    way_out = "--cast " + dtype_name(tensor.dtype);
  } else if (std::is_permutation(weight.shape.begin(), weight.shape.end(), tensor.shape.begin(),
                                 tensor.shape.end())) {
    way_out = "--transpose 'SELECTOR=1,0'";
  }
  throw refused(weight_text(weight) + " in " + printable(weights.path) + ", " + dtype_name(tensor.dtype) +
                " " + shape_text(tensor.shape) + " there")
      .of(tensor_subject(weight.name))
      .in(into.prefix)
      .hint(way_out);
}

}  // namespace

void rename_weights(Weights& weights, const Renaming& renaming) {
  for (Weight& weight : weights.weights) weight.name = renaming.apply(weight.name);
  if (const auto idle = renaming.idle())
    throw refused("names nothing in the file").of(quoted("pair", idle->text)).in(weights.path);
  std::sort(weights.weights.begin(), weights.weights.end(),
            [](const Weight& a, const Weight& b) { return a.name < b.name; });
  const auto twin = std::adjacent_find(weights.weights.begin(), weights.weights.end(),
                                       [](const Weight& a, const Weight& b) { return a.name == b.name; });
  if (twin != weights.weights.end())
    throw refused("two tensors get this name").of(tensor_subject(twin->name));
}

void transpose_weights(Weights& weights, const std::vector<bool>& hits, const std::vector<size_t>& order) {
  for (size_t i = 0; i < weights.weights.size(); ++i) {
    if (!hits[i]) continue;
    Weight& weight = weights.weights[i];
    if (weight.values == nullptr || weight.shape.size() != order.size() || !weight.parts.empty())
      throw refused(weight_text(weight) + " cannot be transposed so")
          .of(tensor_subject(weight.name))
          .in(weights.path);
    std::vector<int64_t> shape;
    for (const size_t dimension : order) shape.push_back(weight.shape[dimension]);
    weight.values =
        transposed_values(std::move(weight.values), weight.shape, order, dtype_width(weight.dtype));
    weight.shape = std::move(shape);
  }
}

void cast_weights(Weights& weights, DType to) {
  for (Weight& weight : weights.weights) {
    if (!can_be_cast(weight.dtype) || weight.dtype == to) continue;
    weight.values = cast_values(std::move(weight.values), {weight.dtype, to});
    weight.dtype = to;
  }
}

// OLD<tab>NEW: for names with `=` in them.
std::optional<NamePair> parse_tabbed(std::string_view line) {
  const size_t tab = line.find('\t');
  if (tab == std::string_view::npos || tab == 0) return std::nullopt;
  OldNew pair{std::string(line), std::string(line.substr(0, tab)), std::string(line.substr(tab + 1))};
  if (pair.to.empty() || pair.is_scope() != pair.to.ends_with('/')) throw misused(line, "is not OLD<tab>NEW");
  return name_pair(std::move(pair));
}

std::vector<NamePair> parse_map(const std::vector<std::string>& texts) {
  std::vector<NamePair> pairs;
  each_argument(texts, [&](std::string_view item, bool in_file) {
    std::optional<NamePair> tabbed = in_file ? parse_tabbed(item) : std::nullopt;
    pairs.push_back(tabbed ? std::move(*tabbed) : parse_name_pair(item));
  });
  return pairs;
}

std::vector<NewTensor> new_tensors(const Weights& weights) {
  std::vector<NewTensor> tensors;
  for (const Weight& weight : weights.weights) {
    if (weight.values == nullptr)
      throw refused("is no number but a " + dtype_name(weight.dtype))
          .of(tensor_subject(weight.name))
          .in(weights.path)
          .hint("--skip");
    if (!weight.parts.empty())
      throw refused(weight_text(weight)).of(tensor_subject(weight.name)).in(weights.path).hint("--skip");
    if (weight.name.empty())
      throw refused("a key of a checkpoint is not empty").of(tensor_subject(weight.name)).in(weights.path);
    tensors.push_back(
        {.name = weight.name, .dtype = weight.dtype, .shape = weight.shape, .values = weight.values});
  }
  return tensors;
}

FittedWeights fit_weights(const Weights& weights, const Checkpoint& into) {
  FittedWeights fit;
  std::vector<bool> used(weights.weights.size(), false);
  for (const Tensor& tensor : into.tensors) {
    if (tensor.name == kObjectGraphKey) continue;
    const Weight* weight = value_for(weights, tensor);
    if (weight == nullptr || weight->values == nullptr) {
      fit.missing.push_back(tensor.name);
      if (weight != nullptr) used[static_cast<size_t>(weight - weights.weights.data())] = true;
      continue;
    }
    require_same(*weight, tensor, weights, into);
    used[static_cast<size_t>(weight - weights.weights.data())] = true;
    NewTensor made{
        .name = tensor.name, .dtype = tensor.dtype, .shape = tensor.shape, .values = weight->values};
    if (!is_slice_key(tensor.record)) made.record = tensor.record;
    made.slices = extents_of(tensor);
    if (const SlicesFit fit = slices_fit(tensor.slices, tensor.shape);
        tensor.partitioned() && !fit.fault.empty())
      throw Error(Cause::kInput, fit.fault).of(tensor_subject(tensor.name)).in(into.prefix);
    if (!weight->parts.empty() && weight->parts != in_order(made.slices))
      throw refused(weight_text(*weight)).of(tensor_subject(weight->name)).in(weights.path);
    fit.tensors.push_back(std::move(made));
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) fit.unexpected.push_back(weights.weights[i].name);
  }
  return fit;
}

Checkpoint with_values(Checkpoint into, Checkpoint stored) {
  const auto base = static_cast<uint32_t>(into.shards.size());
  size_t next = 0;
  for (Tensor& tensor : into.tensors) {
    while (next < stored.tensors.size() && stored.tensors[next].name < tensor.name) ++next;
    if (next == stored.tensors.size()) break;
    Tensor& value = stored.tensors[next];
    if (value.name != tensor.name) continue;
    // Slices keep their own records, and the extents as they were written.
    for (size_t i = 0; i < tensor.slices.size(); ++i) {
      tensor.slices[i].place = value.slices[i].place;
      tensor.slices[i].place.shard += base;
    }
    tensor.place = value.place;
    tensor.place.shard += base;
  }
  into.shards.insert(into.shards.end(), std::make_move_iterator(stored.shards.begin()),
                     std::make_move_iterator(stored.shards.end()));
  into.memory.insert(into.memory.end(), stored.memory.begin(), stored.memory.end());
  drop_unused_shards(into);
  return into;
}

}  // namespace gedit
