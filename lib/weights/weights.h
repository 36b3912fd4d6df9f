// Named tensors of a file of any kind: a checkpoint, safetensors, npz, a folder of .npy, the constants of a
// graph. Values stay where they are until they are read. docs/rules.md#checkpoint-weights-files
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/constant.h"
#include "weights/values.h"

namespace gedit {

struct Weight {
  std::string name;
  DType dtype = DType::kInvalid;
  std::vector<int64_t> shape;
  ValuesPtr values;                 // null for what is no number: strings, variants, resources
  std::vector<Extents> parts = {};  // that alone are there, the rest is 0; empty: all is
};

// In ascending order of their names, each name once.
struct Weights {
  std::string path;  // as messages name it
  std::vector<Weight> weights;
  std::shared_ptr<ValueSource> checkpoint;  // where they are those of one
  std::vector<std::string> warnings;

  const Weight* find(std::string_view name) const;
};

// What PATH names, told by its content: a folder of .npy files, .npz, .npy, .safetensors, a checkpoint
// (checkpoint/open.h), else a graph, of which the Consts are taken, those of functions as `FUNCTION//NODE`.
// With `skip` numpy's arrays of what TensorFlow has no numbers for are left out, and named in the warnings.
// Throws Error.
Weights open_weights(const std::string& path, bool skip = false);

// The tensors of a checkpoint but the object graph; slices are joined, checksums compared as values are read.
// Throws Error (kInput) where what lies in the data files cannot be what the index says.
Weights checkpoint_weights(Checkpoint checkpoint);

// Sorts them. Throws Error (kInput) where two have one name.
void sort_weights(Weights& weights);

// Bytes of the numbers of a shape. Throws Error (kInput) where they cannot be counted as TensorFlow counts
// them, one dimension after the other: it aborts where that overflows, also before a 0.
uint64_t size_of_numbers(DType dtype, const std::vector<int64_t>& shape);

// `float32 [2,3]`, and of parts where they are; words for messages.
std::string weight_text(const Weight& weight);

}  // namespace gedit
