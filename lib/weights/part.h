// Work in parts: `--part I/N` takes the I-th of N ranges of equal bytes. docs/rules.md#checkpoint-parts
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "weights/weights.h"

namespace gedit {

struct WorkPart {
  size_t number = 1, count = 1;  // from 1
};

// `2/8`. Throws Error (kUsage).
WorkPart parse_part(std::string_view text);

// By value, whether it belongs to the part: as store_tensors() would divide them among as many data files.
std::vector<bool> in_part(const std::vector<uint64_t>& sizes, const WorkPart& part);

// Leaves those of the part.
void keep_part(Weights& weights, const WorkPart& part);

}  // namespace gedit
