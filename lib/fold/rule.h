// What a rule of folding sees of a node and what it gives; what rules have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fold/const_tensor.h"
#include "graph/node.h"

namespace gedit::folding {

// Thrown by a rule for what is not folded, and why; it does not leave the room.
struct NotFolded {
  const char* why;
};

using Sizes = std::vector<int64_t>;

class FoldTask {
 public:
  // `most_bytes`: of what outputs hold together.
  FoldTask(std::string_view node_def, std::span<const ConstTensor> inputs, uint64_t most_bytes);

  std::span<const ConstTensor> inputs;
  std::vector<ConstTensor> outputs;

  static void require(bool holds, const char* otherwise) {
    if (!holds) throw NotFolded{otherwise};
  }
  // Attributes; `otherwise` is the default that TensorFlow's definition of the op has.
  int64_t integer(std::string_view key, int64_t otherwise) const;
  bool flag(std::string_view key, bool otherwise) const;
  std::string_view text(std::string_view key, std::string_view otherwise) const;
  Sizes integers(std::string_view key) const;
  DType type(std::string_view key, DType otherwise) const;

  const ConstTensor& input(size_t i) const;
  // The elements of an integer input of rank 1, or of rank 0 as one.
  Sizes values(size_t i) const;
  int64_t scalar(size_t i) const;  // of an integer input of one element
  // `axis`, maybe counted from the end, as a position in `rank`.
  static size_t axis(int64_t axis, size_t rank);

  // How many elements a result of that shape has. Not folded where that is no shape, or an enormous one.
  uint64_t elements(const Sizes& shape, DType dtype) const;
  // Bytes for a result that holds so many elements.
  std::string room(uint64_t elements, size_t width);
  void give(ConstTensor value) { outputs.push_back(std::move(value)); }
  void give(DType dtype, Sizes shape, std::string held) {
    outputs.push_back(ConstTensor::owning(dtype, std::move(shape), std::move(held)));
  }
  uint64_t work() const { return work_; }  // bytes

 private:
  std::optional<std::string_view> attr(std::string_view key) const;

  std::vector<std::pair<std::string_view, std::string_view>> attrs_;
  uint64_t left_, work_ = 0, largest_input_ = 0;
};

// Elements of several tensors of a dtype, one after the other.
class Assembler {
 public:
  Assembler(FoldTask& task, DType dtype, Sizes shape);
  // Elements start .. start + number - 1 of a tensor of the dtype.
  void append(const ConstTensor& from, uint64_t start, uint64_t number);
  ConstTensor take();  // has as many elements as were asked for

 private:
  DType dtype_;
  Sizes shape_;
  std::string bytes_;
  std::shared_ptr<ConstTensor::Strings> strings_;
  std::shared_ptr<std::vector<std::shared_ptr<const void>>> owners_;
};

// Element [i, j, ...] of the result is element offset + i * steps[0] + j * steps[1] + ... of the source.
struct StridedView {
  Sizes shape, steps;
  int64_t offset = 0;
};
Sizes steps_of(const Sizes& shape);  // of elements that lie row-major
// The elements of a view in the shape `shape`, which has as many; shares bytes where they lie in a row.
ConstTensor viewed(FoldTask& task, const ConstTensor& source, const StridedView& view, Sizes shape);
// A tensor seen in a shape to which it broadcasts.
StridedView broadcast_view(const Sizes& from, const Sizes& to);
// The shape to which both broadcast. Not folded where there is none.
Sizes broadcast_shape(const Sizes& a, const Sizes& b);

using FoldRule = void (*)(FoldTask&);
// The elements of an integer input of any rank, row-major.
Sizes flat_values(const FoldTask& task, size_t i);

FoldRule fold_rule_of(std::string_view op);  // null where there is none

}  // namespace gedit::folding
