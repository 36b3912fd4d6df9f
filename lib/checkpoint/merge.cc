// The union of checkpoints: entries by name, slices of one tensor, object graphs below a new root.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/wire.h"
#include "checkpoint/edit.h"
#include "checkpoint/object_edits.h"
#include "checkpoint/values.h"

namespace gedit {
namespace {

// Whether `a` says of itself what `b` does, so that slices of both make one tensor.
bool parts_of_one(const Tensor& a, const Tensor& b) {
  return a.partitioned() && b.partitioned() && a.dtype == b.dtype && a.shape == b.shape;
}

// Adds the slices of `more` to `tensor`; false where both hold a slice.
bool unite(Checkpoint& checkpoint, Tensor& tensor, Tensor& more) {
  std::vector<Slice> all = tensor.slices;
  all.insert(all.end(), more.slices.begin(), more.slices.end());
  if (!slices_fit(all, tensor.shape).fault.empty()) return false;
  tensor.slices = std::move(all);
  if (tensor.record.empty() || more.record.empty() || is_slice_key(tensor.record) ||
      is_slice_key(more.record)) {
    tensor.record = {};
    return true;
  }
  std::string record(tensor.record);
  for (Fields fields(more.record); fields.next();) {
    if (fields->bytes(7)) record += fields->raw;
  }
  tensor.record = checkpoint.keep(std::move(record));
  return true;
}

// The object graph of all, where each input that has one is named; nothing where the one that has one keeps
// it.
std::optional<std::string> joined_object_graphs(const std::vector<MergeInput>& inputs) {
  std::vector<const MergeInput*> with;
  const MergeInput* unnamed = nullptr;
  for (const MergeInput& input : inputs) {
    if (!input.checkpoint.object_based()) continue;
    with.push_back(&input);
    if (input.name.empty() && unnamed == nullptr) unnamed = &input;
  }
  if (with.size() > 1 && unnamed != nullptr) {
    throw Error(Cause::kRefused, "object-based, like others here; their roots need names")
        .in(unnamed->checkpoint.prefix)
        .hint("a=CKPT b=CKPT");
  }
  if (with.empty() || unnamed != nullptr) return std::nullopt;
  std::vector<std::string> texts;  // outlive the graphs
  for (const MergeInput* input : with) texts.push_back(load_object_graph(input->checkpoint));
  std::vector<std::pair<std::string, ObjectGraph>> graphs;
  for (size_t i = 0; i < with.size(); ++i) graphs.emplace_back(with[i]->name, parse_object_graph(texts[i]));
  return object_graph_bytes(join_objects(std::move(graphs)));
}

}  // namespace

Checkpoint merge_checkpoints(std::vector<MergeInput> inputs, OnConflict on_conflict) {
  Checkpoint merged;
  if (!inputs.empty()) merged.prefix = inputs.front().checkpoint.prefix;
  const std::optional<std::string> objects = joined_object_graphs(inputs);

  std::vector<uint32_t> origin;  // by tensor: its input
  for (size_t i = 0; i < inputs.size(); ++i) {
    Checkpoint& from = inputs[i].checkpoint;
    const auto base = static_cast<uint32_t>(merged.shards.size());
    const std::string prefix = from.object_based() ? escaped_name(inputs[i].name) : inputs[i].name;
    if (merged.header.empty()) merged.header = from.header;
    for (Tensor& tensor : from.tensors) {
      if (objects && tensor.name == kObjectGraphKey) continue;
      if (!prefix.empty()) tensor.name = prefix + "/" + tensor.name;
      tensor.place.shard += base;
      for (Slice& slice : tensor.slices) slice.place.shard += base;
      merged.tensors.push_back(std::move(tensor));
      origin.push_back(static_cast<uint32_t>(i));
    }
    for (Shard& shard : from.shards) merged.shards.push_back(std::move(shard));
    merged.memory.insert(merged.memory.end(), from.memory.begin(), from.memory.end());
    if (from.version == 1) merged.version = 1;
  }
  std::vector<size_t> order(merged.tensors.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return merged.tensors[a].name < merged.tensors[b].name; });
  std::vector<Tensor> tensors;
  std::vector<uint32_t> from;
  tensors.reserve(order.size());
  for (const size_t i : order) {
    Tensor& tensor = merged.tensors[i];
    if (tensors.empty() || tensors.back().name != tensor.name) {
      tensors.push_back(std::move(tensor));
      from.push_back(origin[i]);
      continue;
    }
    if (parts_of_one(tensors.back(), tensor) && unite(merged, tensors.back(), tensor)) continue;
    if (on_conflict == OnConflict::kFirst) continue;
    if (on_conflict == OnConflict::kLast) {
      tensors.back() = std::move(tensor);
      from.back() = origin[i];
      continue;
    }
    const std::string& first = inputs[from.back()].checkpoint.prefix;
    const std::string& second = inputs[origin[i]].checkpoint.prefix;
    throw Error(Cause::kRefused, "already in " + printable(first))
        .of(tensor_subject(tensor.name))
        .in(second)
        .hint("name them (a=" + printable(first) + " b=" + printable(second) +
              ") or use --on-conflict first|last");
  }
  merged.tensors = std::move(tensors);
  if (objects) store_object_graph(merged, *objects);
  return merged;
}

}  // namespace gedit
