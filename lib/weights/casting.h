// Floating point numbers of one type as those of another, as TensorFlow's Cast makes them.
// docs/rules.md#checkpoint-cast
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "graph/dtype.h"

namespace gedit {

// From one type to another; of the same type, or kInvalid, nothing is done.
struct Casting {
  DType from = DType::kInvalid, to = DType::kInvalid;

  bool any() const { return from != to; }
  uint64_t size_of(uint64_t bytes) const {
    return any() ? bytes / dtype_width(from) * dtype_width(to) : bytes;
  }
};

// float16, bfloat16, float32, float64: from each to each.
bool is_floating(DType type);
// These, and floating point numbers of 8 and 4 bits, from which alone there is a way.
bool can_be_cast(DType type);
// Whether a number of that type becomes one of `to`: floating point, and wider.
bool becomes_narrower(DType from, DType to);

// `elements` numbers, both unaligned; how many of them were finite and are infinite now.
uint64_t cast_elements(const Casting& casting, const char* from, char* to, size_t elements);

// What is told of `subject` where so many of its numbers became infinite.
std::string overflow_text(const std::string& subject, uint64_t count);

}  // namespace gedit
