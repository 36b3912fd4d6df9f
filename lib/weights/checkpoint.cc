// Checkpoints as weights.
#include <sys/stat.h>

#include <map>

#include "base/crc32c.h"
#include "base/error.h"
#include "checkpoint/edit.h"
#include "weights/weights.h"

namespace gedit {
namespace {

// From so many on, data files are opened when they are read: a process may have 1,024 open.
constexpr size_t kManyShards = 200;

// The values of one place, with what is looked up once for all.
class Placed {
 public:
  explicit Placed(const std::shared_ptr<ValueSource>& source)
      : source_(source), sizes_(source->checkpoint.shards.size()) {}

  ValuesPtr of(const Tensor& tensor, const Slice* slice, uint64_t elements) {
    const Place& place = slice != nullptr ? slice->place : tensor.place;
    const size_t width = dtype_width(tensor.dtype);
    const Shard& shard = source_->checkpoint.shards.at(place.shard);
    const uint64_t size = elements * width;
    if (shard.form == Shard::Form::kTable) {
      return made_values(size, [source = source_, &tensor, slice] {
        return std::string(stored_bytes(source->files, tensor, slice).view());
      });
    }
    if (place.size != size) {
      throw Error(Cause::kInput, std::to_string(place.size) + " bytes are stored, its shape has " +
                                     std::to_string(elements) + " elements of " + std::to_string(width));
    }
    ValuesPtr& values = made_[place];
    if (!values) values = stretch(shard, place);
    return shard.form == Shard::Form::kBigEndian ? swapped_values(values, tensor.dtype) : values;
  }

 private:
  ValuesPtr stretch(const Shard& shard, const Place& place) {
    const Expected expected{ChecksumKind::kCrc32c, 0, unmasked(place.crc32c)};
    if (shard.form == Shard::Form::kMemory || source_->checkpoint.shards.size() < kManyShards) {
      const std::string_view bytes = source_->files.bytes(place);  // inside the file
      const auto file = source_->files.file(place.shard);
      if (file == nullptr) return memory_values(bytes, source_, expected);
      return file_values(file, place.offset, place.size, expected);
    }
    uint64_t& there = sizes_[place.shard];
    if (there == 0) {
      struct stat status {};
      if (::stat(shard.path.c_str(), &status) != 0)
        throw Error(Cause::kInput, "no such file").of(base_name(shard.path));
      there = static_cast<uint64_t>(status.st_size);
    }
    if (place.offset > there || place.size > there - place.offset) {
      throw Error(Cause::kInput, "its bytes lie outside " + std::string(base_name(shard.path)));
    }
    return path_values(shard.path, place.offset, place.size, expected);
  }

  std::shared_ptr<ValueSource> source_;
  std::map<Place, ValuesPtr> made_;
  std::vector<uint64_t> sizes_;  // of data files; 0: not asked yet
};

void join(const Tensor& tensor, Placed& placed, Weight& weight) {
  const SlicesFit fit = slices_fit(tensor.slices, tensor.shape);
  if (!fit.fault.empty()) throw Error(Cause::kInput, fit.fault);
  std::vector<Extents> extents = extents_of(tensor);
  std::vector<ValuePart> parts;
  for (size_t i = 0; i < extents.size(); ++i) {
    uint64_t elements = 1;
    for (const Extent& extent : extents[i]) elements *= static_cast<uint64_t>(extent.length);
    parts.push_back({extents[i], placed.of(tensor, &tensor.slices[i], elements)});
  }
  weight.values = joined_values(std::move(parts), tensor.shape, dtype_width(tensor.dtype));
  if (!fit.whole) weight.parts = in_order(std::move(extents));
}

}  // namespace

Weights checkpoint_weights(Checkpoint checkpoint) {
  Weights weights;
  weights.path = checkpoint.prefix;
  weights.checkpoint = std::make_shared<ValueSource>(std::move(checkpoint));
  Placed placed(weights.checkpoint);
  for (const Tensor& tensor : weights.checkpoint->checkpoint.tensors) {
    if (tensor.name == kObjectGraphKey) continue;
    Weight weight{tensor.name, tensor.dtype, tensor.shape, nullptr};
    if (dtype_width(tensor.dtype) != 0) {
      try {
        size_of_numbers(tensor.dtype, tensor.shape);
        if (tensor.partitioned()) {
          join(tensor, placed, weight);
        } else {
          weight.values = placed.of(tensor, nullptr, element_count(tensor.shape));
        }
      } catch (const Error& error) {
        throw error.of(tensor_subject(tensor.name)).in(weights.path);
      }
    }
    weights.weights.push_back(std::move(weight));
  }
  return weights;
}

}  // namespace gedit
