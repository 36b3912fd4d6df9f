#include "weights/rewrite.h"

#include <algorithm>

#include "base/error.h"
#include "checkpoint/values.h"

namespace gedit {

std::vector<NewTensor> all_tensors(const Weights& weights) {
  if (!weights.checkpoint)
    throw Error(Cause::kInput, "not a checkpoint")
        .in(weights.path)
        .hint("gedit checkpoint import makes one of it");
  const Checkpoint& checkpoint = weights.checkpoint->checkpoint;
  std::vector<NewTensor> out;
  out.reserve(checkpoint.tensors.size());
  for (const Tensor& tensor : checkpoint.tensors) {
    NewTensor& made = out.emplace_back();
    made.name = tensor.name;
    made.dtype = tensor.dtype;
    made.shape = tensor.shape;
    if (!is_slice_key(tensor.record)) made.record = tensor.record;
    const Weight* weight = weights.find(tensor.name);
    if (weight != nullptr && weight->values != nullptr) {
      made.values = weight->values;
      // Of a table: tells nothing of slices.
      if (std::ranges::any_of(tensor.slices, [](const Slice& slice) { return is_slice_key(slice.record); }))
        made.record = {};
      made.slices = extents_of(tensor);
      made.whole = weight->parts.empty();
    } else {
      made.bytes = tensor_bytes(weights.checkpoint->files, tensor).view();
      if (tensor.partitioned()) made.record = {};  // strings become whole
    }
  }
  return out;
}

size_t join_slices(std::vector<NewTensor>& tensors, const std::vector<bool>& hits) {
  size_t joined = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!hits[i] || tensors[i].slices.empty() || !tensors[i].whole) continue;
    tensors[i].slices.clear();
    tensors[i].record = {};
    ++joined;
  }
  return joined;
}

void make_slices(std::vector<NewTensor>& tensors, const std::vector<bool>& hits, size_t count, size_t axis) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!hits[i]) continue;
    NewTensor& tensor = tensors[i];
    if (tensor.values == nullptr)
      throw refused("is no number; it stays whole").of(tensor_subject(tensor.name));
    if (!tensor.whole)
      throw refused("is there in part alone; it stays in its slices").of(tensor_subject(tensor.name));
    if (axis >= tensor.shape.size() || static_cast<uint64_t>(tensor.shape[axis]) < count) {
      throw refused("has not " + std::to_string(count) + " rows along axis " + std::to_string(axis))
          .of(tensor_subject(tensor.name));
    }
    tensor.record = {};
    tensor.slices.clear();
    const auto parts = static_cast<int64_t>(count);
    const int64_t least = tensor.shape[axis] / parts, longer = tensor.shape[axis] % parts;
    int64_t at = 0;
    for (int64_t k = 0; k < parts; ++k) {
      Extents extents(tensor.shape.size());
      for (size_t d = 0; d < extents.size(); ++d) extents[d] = {0, tensor.shape[d]};
      extents[axis] = {at, least + (k < longer ? 1 : 0)};
      at += extents[axis].length;
      tensor.slices.push_back(std::move(extents));
    }
  }
}

size_t cast_tensors(std::vector<NewTensor>& tensors, const std::vector<bool>& hits, DType to) {
  size_t changed = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    NewTensor& tensor = tensors[i];
    if (!hits[i] || !can_be_cast(tensor.dtype) || tensor.dtype == to) continue;
    tensor.casting = {tensor.dtype, to};
    tensor.dtype = to;
    tensor.record = {};
    ++changed;
  }
  return changed;
}

}  // namespace gedit
