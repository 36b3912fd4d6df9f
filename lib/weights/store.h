// New data files of a checkpoint: values streamed to their places, checksums taken on the way.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/bundle.h"
#include "weights/casting.h"
#include "weights/part.h"
#include "weights/stream.h"
#include "weights/values.h"

namespace gedit {

struct NewTensor {
  std::string name;
  DType dtype = DType::kInvalid;
  std::vector<int64_t> shape;
  ValuesPtr values;                  // tensors with the same ones share their bytes
  Casting casting = {};              // of the values on their way
  std::string bytes = {};            // instead, of strings and variants: as a data file holds them
  std::string_view record = {};      // the entry to keep but for the place, as Tensor::record
  std::vector<Extents> slices = {};  // stored in these parts
  bool whole = true;                 // which cover the shape
};

struct StoreOptions {
  size_t shards = 1;  // data files, filled evenly
  uint64_t max_size =
      0;  // instead, as many as it takes so that none is larger (one value always fits); 0: no limit
  // What lies in that one of `part.count` data files alone, as the only one; of a tensor in slices those.
  WorkPart part = {};
  Overflowed overflowed = {};
};

// A checkpoint of these tensors. Its data files are complete and lie beside `prefix` without a name; whoever
// writes the checkpoint links them. Throws Error (kInput, kWrite).
Checkpoint store_tensors(std::vector<NewTensor> tensors, const std::string& prefix,
                         const StoreOptions& options = {});

// By value: the number of the data file, of which there are as many as asked for or needed.
// Values of equal bytes lie in each range; one belongs to where its first byte is.
std::vector<uint32_t> divide(const std::vector<uint64_t>& sizes, const StoreOptions& options);

// Takes data files away that no tensor is in, and numbers the others anew.
void drop_unused_shards(Checkpoint& checkpoint);

}  // namespace gedit
