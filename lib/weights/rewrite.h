// A checkpoint written anew with other values: cast, averaged, its slices joined or made.
#pragma once

#include <string>
#include <vector>

#include "weights/store.h"
#include "weights/weights.h"

namespace gedit {

// Every tensor of the checkpoint as it is: numbers by their values, partitioned as they are; strings,
// variants and the object graph as their bytes; in the order of the names. Throws Error (kInput).
std::vector<NewTensor> all_tensors(const Weights& weights);

// Those that are hit become whole; number of those that were not. docs/rules.md#checkpoint-join
size_t join_slices(std::vector<NewTensor>& tensors, const std::vector<bool>& hits);

// Those that are hit, whole or not, become `count` slices along `axis`, as TensorFlow's
// fixed_size_partitioner divides them. Throws Error (kRefused) for strings and for fewer elements than
// slices.
void make_slices(std::vector<NewTensor>& tensors, const std::vector<bool>& hits, size_t count, size_t axis);

// Floating point numbers among those that are hit become `to`; number of tensors that change.
// docs/rules.md#checkpoint-cast
size_t cast_tensors(std::vector<NewTensor>& tensors, const std::vector<bool>& hits, DType to);

// The means of several checkpoints with the same tensors, in double, rounded once. Numbers that are not
// floating point must be equal, or with `last` are the last one's, as everything else is. Throws Error
// (kRefused). docs/rules.md#checkpoint-average
std::vector<NewTensor> mean_tensors(const std::vector<Weights>& inputs, bool last);

}  // namespace gedit
