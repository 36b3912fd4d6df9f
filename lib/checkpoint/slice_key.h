// Slices of partitioned tensors: their extents, and the keys under which checkpoints hold them
// (tensorflow/core/util/saved_tensor_slice_util.cc, tensorflow/core/lib/strings/ordered_code.cc).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gedit {

constexpr size_t kMostDimensions = 254;  // of a tensor (TensorShape::MaxDimensions())

// A range of one dimension. A length of -1 is the full dimension, whatever its size.
struct Extent {
  int64_t start = 0, length = -1;
  bool operator==(const Extent&) const = default;
};
using Extents = std::vector<Extent>;

// The key of a slice: a zero byte, so that it comes before every name, the name, the extents.
std::string slice_key(std::string_view name, const Extents& extents);

inline bool is_slice_key(std::string_view key) { return key.starts_with('\0'); }

struct SliceKey {
  std::string name;
  Extents extents;
};
// Nothing where the key is none of a slice.
std::optional<SliceKey> parse_slice_key(std::string_view key);

// `0,4:-`: start and length of each dimension, `-` for a full one.
std::string slice_text(const Extents& extents);

struct SliceSpec {
  std::vector<int64_t> shape;  // of the whole tensor
  Extents extents;
};
// `4 2 0,2:-`, as the Consts of a saver write it: the whole shape, then the slice. Nothing where it is none.
std::optional<SliceSpec> parse_slice_spec(std::string_view text);

// The extents with -1 replaced by what it stands for. Nothing where a range leaves the shape or the ranks
// differ.
std::optional<Extents> settle_extents(const Extents& extents, std::span<const int64_t> shape);

}  // namespace gedit
