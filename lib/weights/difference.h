// Which tensors differ between two files of weights, and by how much. docs/rules.md#checkpoint-diff
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "weights/weights.h"

namespace gedit {

struct TensorDifference {
  std::string name;
  DType dtype = DType::kInvalid;
  std::vector<int64_t> shape;
  double relative = 0;     // |a - b| / |a|, in L2; infinite where |a| is zero or a number is not finite
  double largest = 0;      // |difference|
  uint64_t different = 0;  // elements
  uint64_t elements = 0;
};

struct WeightsDifference {
  std::vector<TensorDifference> changed;  // the largest first, then by name
  size_t compared = 0;                    // that are in both with one type and shape
  std::vector<std::string> only_a, only_b;
  struct Unlike {
    std::string name, a, b;  // types and shapes in words
  };
  std::vector<Unlike> unlike;
  std::vector<std::string> unread;  // strings and the like, of which one side has no checksum

  bool any() const { return !changed.empty() || !only_a.empty() || !only_b.empty() || !unlike.empty(); }
};

// Streams both. Where both know checksum and size and they are alike, nothing is read unless `bytes`. A NaN
// equals a NaN, -0 equals 0. Throws Error (kInput).
WeightsDifference difference(const Weights& a, const Weights& b, bool bytes);

void print_difference(const WeightsDifference& difference, const std::string& a, const std::string& b,
                      Sink& out);
void print_difference_json(const WeightsDifference& difference, Sink& out);

}  // namespace gedit
