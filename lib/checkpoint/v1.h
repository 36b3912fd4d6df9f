// Checkpoints of TensorFlow 0.x (V1): tables of SavedTensorSlices, in one file or several.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/bundle.h"

namespace gedit {

// Reads what there is, not the values: the first record of each file. Throws Error (kInput).
Checkpoint read_v1(const std::vector<std::string>& files, const std::string& prefix);

// The values of the record under `key`, as a V2 data file holds them: little-endian, or strings with their
// lengths. Throws Error (kInput) where the record is not there or holds another number of elements.
std::string v1_values(const Table& table, std::string_view key, DType dtype, uint64_t elements);

}  // namespace gedit
