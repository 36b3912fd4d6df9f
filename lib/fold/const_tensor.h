// The value of a Const: dtype, shape, elements, viewed where they lie.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dtype.h"

namespace gedit::folding {

// Row-major and little-endian. Elements of which only the first are held go on with the last of these, so
// that what is stored in short is never unpacked. Copies are cheap: they share the bytes.
class ConstTensor {
 public:
  using Strings = std::vector<std::string_view>;

  ConstTensor() = default;  // no value: valid() is false
  // `held` are at least one element where `shape` has any, and a whole number of them, at most as many as the
  // shape has. `owner` keeps the bytes; without one they outlive the value.
  ConstTensor(DType dtype, std::vector<int64_t> shape, std::string_view held,
              std::shared_ptr<const void> owner);
  // Of strings, whose texts `owner` keeps.
  ConstTensor(std::vector<int64_t> shape, std::shared_ptr<const Strings> held,
              std::shared_ptr<const void> owner);
  static ConstTensor owning(DType dtype, std::vector<int64_t> shape, std::string held);

  bool valid() const { return dtype_ != DType::kInvalid; }
  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  size_t rank() const { return shape_.size(); }
  uint64_t count() const { return count_; }  // elements
  uint64_t held() const { return held_; }    // of these the ones that lie there
  bool is_splat() const { return count_ > 0 && held_ == 1; }
  size_t width() const { return width_; }            // bytes of an element; 0 of strings
  std::string_view bytes() const { return bytes_; }  // held() * width(), at no alignment
  // Bytes of element i < count(); the text of a string.
  std::string_view element(uint64_t i) const {
    if (i >= held_) i = held_ - 1;
    return strings_ != nullptr ? (*strings_)[i] : bytes_.substr(i * width_, width_);
  }
  // Element i as a T of the same width.
  template <typename T>
  T as(uint64_t i) const {
    T value{};
    element(i).copy(reinterpret_cast<char*>(&value), sizeof(T));
    return value;
  }
  const std::shared_ptr<const Strings>& strings() const { return strings_; }  // null but of strings
  const std::shared_ptr<const void>& owner() const { return owner_; }

  // The same elements in another shape of as many; a splat in any that has elements.
  ConstTensor reshaped(std::vector<int64_t> shape) const;
  // The same value without the elements at the end that repeat the last.
  ConstTensor shortened() const;

 private:
  DType dtype_ = DType::kInvalid;
  std::vector<int64_t> shape_;
  uint64_t count_ = 0, held_ = 0;
  size_t width_ = 0;
  std::string_view bytes_;
  std::shared_ptr<const Strings> strings_;
  std::shared_ptr<const void> owner_;
};

// Whether a ConstTensor holds values of the dtype; not resources, variants, numbers of less than 8 bits and
// 8-bit floats.
bool holds_values_of(DType dtype);

// Elements of a shape, nothing where a size is negative or they are 2^62 or more.
std::optional<uint64_t> elements_of(const std::vector<int64_t>& shape);

// The value of a serialized TensorProto as TensorFlow reads it (tensorflow/core/framework/tensor.cc,
// Tensor::FromProto). The proto outlives it unless `owner` keeps it. Nothing where TensorFlow would refuse
// it, and of dtypes of which it holds no values.
// Takes no memory that the proto does not take itself.
std::optional<ConstTensor> parse_tensor(std::string_view tensor_proto,
                                        std::shared_ptr<const void> owner = nullptr);
// That of a Const node, whose attribute dtype agrees; nothing for another node.
std::optional<ConstTensor> const_value(std::string_view node_def,
                                       std::shared_ptr<const void> owner = nullptr);

// As a serialized TensorProto. All elements equal: stored once; else tensor_content, or the list of the dtype
// where that is less than half. As it is read by parse_tensor() it has the same elements, bit for bit.
std::string tensor_proto_of(const ConstTensor& value);
// Bytes of tensor_proto_of(), without making it.
uint64_t tensor_proto_size(const ConstTensor& value);
// A Const that holds `value` in the place of `node_def`: its name, device, control inputs and `_class`,
// nothing else of it.
std::string const_node(std::string_view node_def, const ConstTensor& value);

}  // namespace gedit::folding
