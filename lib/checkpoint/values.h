// The values behind a checkpoint's entries: found, checked, and put into one form (row-major, little-endian).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "checkpoint/bundle.h"

namespace gedit {

// The data files of a checkpoint, each opened when it is first needed.
class DataFiles {
 public:
  explicit DataFiles(const Checkpoint& checkpoint);

  // Null for a shard in memory. Throws Error (kInput) where the file is not there.
  std::shared_ptr<const InputFile> file(uint32_t shard);

  // The bytes as they are stored. Throws Error (kInput) where they lie outside the file.
  std::string_view bytes(const Place& place);

  const Checkpoint& checkpoint() const { return checkpoint_; }

 private:
  const Checkpoint& checkpoint_;
  std::vector<std::shared_ptr<const InputFile>> files_;
};

// Bytes that are a view into a file or owned.
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::string_view view) : view_(view) {}
  explicit Bytes(std::string owned) : owned_(std::move(owned)), is_owned_(true) {}
  std::string_view view() const { return is_owned_ ? std::string_view(owned_) : view_; }

 private:
  std::string_view view_;
  std::string owned_;
  bool is_owned_ = false;
};

// Calls `use` for the bytes [offset, offset + size) of the file in pieces of at most 256 KiB, read into one
// buffer, so that memory stays small however large they are.
void read_pieces(const InputFile& file, uint64_t offset, uint64_t size,
                 const std::function<void(std::string_view)>& use);

// The values of a tensor stored whole, or of one of its slices, as a V2 data file holds them. The checksum is
// compared. Throws Error (kInput), naming the tensor.
Bytes stored_bytes(DataFiles& files, const Tensor& tensor, const Slice* slice = nullptr);

// The values of the whole tensor, its slices put together. Elements of fixed width follow one another;
// strings and variants are as a V2 data file holds them (see strings_of()).
Bytes tensor_bytes(DataFiles& files, const Tensor& tensor);

// The crc32c (not masked) that an entry of these bytes has
// (tensorflow/core/util/tensor_bundle/tensor_bundle.cc). Throws Error (kInput) where bytes of strings or
// variants are malformed.
uint32_t value_crc32c(DType dtype, uint64_t elements, std::string_view bytes, bool big_endian = false);

// The strings in the bytes of a DT_STRING tensor: views. Throws Error (kInput) where they are malformed.
std::vector<std::string_view> strings_of(uint64_t elements, std::string_view bytes, bool big_endian = false);
// The way back.
std::string string_bytes(const std::vector<std::string_view>& strings);

// The part of a whole tensor, of elements of `width` bytes, that a slice is; extents as settle_extents()
// gives them.
std::string slice_of(std::string_view whole, const std::vector<int64_t>& shape, const Extents& extents,
                     size_t width);

// Turns the numbers of every element round.
void swap_bytes(DType dtype, std::string& bytes);

// Adds a tensor, with bytes in V2 form, to a shard in memory. The caller sorts. Nothing else is changed.
void add_tensor(Checkpoint& checkpoint, const std::string& name, DType dtype, std::vector<int64_t> shape,
                std::string_view bytes);

// That they leave a part of the tensor out is no fault: TensorFlow does so
// (docs/tensorflow.md#partitioned-variables).
struct SlicesFit {
  std::string fault;  // one leaves the shape, or two overlap
  bool whole = true;  // nothing is known to be left out
};
// Whether slices lie in the shape, each element in one. Costs slices x rank where they cover it, by sums of
// products of pseudo-random weights of the cells, not by comparing pairs.
SlicesFit slices_fit(const std::vector<Slice>& slices, const std::vector<int64_t>& shape);
// The same for who needs all of it: nothing, or what is wrong.
std::string slices_fault(const std::vector<Slice>& slices, const std::vector<int64_t>& shape);

// Of its slices, as settle_extents() gives them, and by where they begin.
std::vector<Extents> extents_of(const Tensor& tensor);
std::vector<Extents> in_order(std::vector<Extents> extents);

}  // namespace gedit
