// The files that hold the values of a SavedModel's variables.
#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/size.h"
#include "check/surroundings.h"

namespace gedit {

void check_data_files(const Checkpoint& values, Report& report) {
  std::vector<uint64_t> ends(values.shards.size());  // how long each must be
  std::vector<bool> used(values.shards.size());
  const auto use = [&](const Place& place) {
    used.at(place.shard) = true;
    uint64_t& end = ends.at(place.shard);
    end = std::max(end, place.offset + place.size);
  };
  for (const Tensor& tensor : values.tensors) {
    if (!tensor.partitioned()) use(tensor.place);
    for (const Slice& slice : tensor.slices) use(slice.place);
  }
  for (size_t i = 0; i < values.shards.size(); ++i) {
    const Shard& shard = values.shards[i];
    if (!used[i] || (shard.form != Shard::Form::kData && shard.form != Shard::Form::kBigEndian)) continue;
    if (!exists(shard.path)) {
      report.add(Rule::kCheckpoint, shard.path, "no such file");
    } else if (const uint64_t size = InputFile::open(shard.path)->bytes().size(); size < ends[i]) {
      report.add(Rule::kCheckpoint, shard.path,
                 counted(size, "byte") + ", the index names " + std::to_string(ends[i]));
    }
  }
}

}  // namespace gedit
