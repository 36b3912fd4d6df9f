#include "weights/store.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/crc32c.h"
#include "base/error.h"
#include "checkpoint/values.h"
#include "weights/cast_values.h"

namespace gedit {
namespace {

// The bytes of a tensor, or of one of its slices, and where they will lie.
struct Stored {
  ValuesPtr values;
  Casting casting;
  uint32_t crc32c = 0;  // masked; of strings and variants, whose values have another checksum
  bool known = false;
  Place place = {};
  size_t item = 0;  // that streams it
  std::string subject;
};

class Storing {
 public:
  explicit Storing(std::vector<NewTensor>& tensors) {
    for (NewTensor& tensor : tensors) {
      std::vector<size_t>& parts = parts_of_.emplace_back();
      if (!tensor.casting.any()) {
        auto [values, casting] = uncast(std::move(tensor.values));
        tensor.values = std::move(values);
        tensor.casting = casting;
      }
      if (tensor.values == nullptr) {
        const uint32_t crc = masked(value_crc32c(tensor.dtype, element_count(tensor.shape), tensor.bytes));
        parts.push_back(stored_.size());
        stored_.push_back(
            {owned_values(std::move(tensor.bytes)), {}, crc, true, {}, 0, tensor_subject(tensor.name)});
      } else if (tensor.slices.empty()) {
        parts.push_back(add(tensor, tensor.values));
      } else {
        const size_t width = dtype_width(tensor.casting.any() ? tensor.casting.from : tensor.dtype);
        for (const Extents& extents : tensor.slices)
          parts.push_back(add(tensor, part_values(tensor.values, tensor.shape, extents, width)));
      }
    }
  }

  void write(const std::string& prefix, const StoreOptions& options, Checkpoint& checkpoint) {
    std::vector<uint64_t> sizes;
    for (const Stored& one : stored_) sizes.push_back(one.casting.size_of(one.values->size()));
    const bool whole = options.part.count == 1;
    if (!whole) there_ = in_part(sizes, options.part);
    const std::vector<uint32_t> shard_of =
        whole ? divide(sizes, options) : std::vector<uint32_t>(sizes.size(), 0);
    const size_t shards = std::max<size_t>(whole && options.max_size == 0 ? options.shards : 1,
                                           shard_of.empty() ? 0 : shard_of.back() + 1);
    std::vector<std::shared_ptr<OutputFile>> files;
    std::vector<uint64_t> ends(shards, 0);
    for (size_t i = 0; i < shards; ++i)
      files.push_back(std::make_shared<OutputFile>(shard_path(prefix, i, shards), true));
    std::vector<Streamed> items;
    for (size_t i = 0; i < stored_.size(); ++i) {
      if (!is_there(i)) continue;
      Stored& one = stored_[i];
      const uint32_t shard = shard_of[i];
      one.place = {.shard = shard, .offset = ends[shard], .size = sizes[i]};
      ends[shard] += sizes[i];
      one.item = items.size();
      items.push_back({.values = one.values,
                       .casting = one.casting,
                       .out = files[shard].get(),
                       .at = one.place.offset,
                       .take = ChecksumKind::kCrc32c,
                       .subject = one.subject});
    }
    stream(items, options.overflowed);
    for (size_t i = 0; i < stored_.size(); ++i) {
      Stored& one = stored_[i];
      if (is_there(i)) one.place.crc32c = one.known ? one.crc32c : masked(items[one.item].checksum);
    }
    for (size_t i = 0; i < shards; ++i) {
      files[i]->end_at(ends[i]);
      files[i]->finish();
      Shard& shard = checkpoint.shards.emplace_back();
      shard.path = files[i]->path_meanwhile();
      shard.made = files[i];
    }
  }

  Place place(size_t tensor, size_t part) const { return stored_[parts_of_[tensor][part]].place; }
  // Whether it was to be written.
  bool has(size_t tensor, size_t part) const { return is_there(parts_of_[tensor][part]); }

 private:
  bool is_there(size_t i) const { return there_.empty() || there_[i]; }

  size_t add(const NewTensor& tensor, ValuesPtr values) {
    const auto key = std::make_tuple(values.get(), tensor.casting.from, tensor.casting.to);
    const auto [place, added] = shared_.emplace(key, stored_.size());
    if (added)
      stored_.push_back({std::move(values), tensor.casting, 0, false, {}, 0, tensor_subject(tensor.name)});
    return place->second;
  }

  std::vector<Stored> stored_;
  std::vector<bool> there_;                    // by stored value; empty: all of them
  std::vector<std::vector<size_t>> parts_of_;  // by tensor
  std::map<std::tuple<const Values*, DType, DType>, size_t> shared_;
};

}  // namespace

std::vector<uint32_t> divide(const std::vector<uint64_t>& sizes, const StoreOptions& options) {
  uint64_t total = 0;
  for (const uint64_t size : sizes) total += size;
  std::vector<uint32_t> out;
  out.reserve(sizes.size());
  uint64_t before = 0, in_this = 0;
  uint32_t shard = 0;
  for (const uint64_t size : sizes) {
    if (options.max_size != 0) {
      if (in_this != 0 && in_this + size > options.max_size) {
        ++shard;
        in_this = 0;
      }
      in_this += size;
    } else if (total != 0) {
      __extension__ using Wide = unsigned __int128;
      shard = static_cast<uint32_t>(
          std::min<Wide>(options.shards - 1, static_cast<Wide>(before) * options.shards / total));
    }
    out.push_back(shard);
    before += size;
  }
  return out;
}

Checkpoint store_tensors(std::vector<NewTensor> tensors, const std::string& prefix,
                         const StoreOptions& options) {
  Checkpoint checkpoint;
  checkpoint.prefix = prefix;
  std::sort(tensors.begin(), tensors.end(),
            [](const NewTensor& a, const NewTensor& b) { return a.name < b.name; });
  Storing storing(tensors);
  storing.write(prefix, options, checkpoint);
  for (size_t i = 0; i < tensors.size(); ++i) {
    NewTensor& from = tensors[i];
    Tensor tensor;
    for (size_t k = 0; k < from.slices.size(); ++k) {
      if (storing.has(i, k))
        tensor.slices.push_back(
            {.extents = std::move(from.slices[k]), .place = storing.place(i, k), .record = {}});
    }
    if (from.slices.empty() ? !storing.has(i, 0) : tensor.slices.empty()) continue;
    tensor.name = std::move(from.name);
    tensor.dtype = from.dtype;
    tensor.shape = std::move(from.shape);
    const bool whole = tensor.slices.size() == from.slices.size();
    if (!from.record.empty() && whole) tensor.record = checkpoint.keep(std::string(from.record));
    if (from.slices.empty()) tensor.place = storing.place(i, 0);
    checkpoint.tensors.push_back(std::move(tensor));
  }
  sort_tensors(checkpoint);
  return checkpoint;
}

void drop_unused_shards(Checkpoint& checkpoint) {
  std::vector<bool> used(checkpoint.shards.size(), false);
  const auto each_place = [&](auto use) {
    for (Tensor& tensor : checkpoint.tensors) {
      if (!tensor.partitioned()) use(tensor.place);
      for (Slice& slice : tensor.slices) use(slice.place);
    }
  };
  each_place([&](const Place& place) { used.at(place.shard) = true; });
  std::vector<uint32_t> number(used.size(), 0);
  std::vector<Shard> kept;
  for (size_t i = 0; i < used.size(); ++i) {
    number[i] = static_cast<uint32_t>(kept.size());
    if (used[i]) kept.push_back(std::move(checkpoint.shards[i]));
  }
  each_place([&](Place& place) { place.shard = number[place.shard]; });
  for (Tensor& tensor : checkpoint.tensors) {
    if (tensor.partitioned()) tensor.place.shard = 0;  // means nothing
  }
  checkpoint.shards = std::move(kept);
}

}  // namespace gedit
