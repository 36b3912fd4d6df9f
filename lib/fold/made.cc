// Elements that follow from sizes, indices and shapes.
#include <algorithm>
#include <limits>
#include <utility>

#include "fold/numbers.h"
#include "fold/rules.h"

namespace gedit::folding {
namespace {

void append_integer(std::string& bytes, DType dtype, int64_t number) {
  if (dtype == DType::kInt64) return append_number(bytes, number);
  FoldTask::require(dtype == DType::kInt32, "not of this dtype");
  append_number(bytes, static_cast<int32_t>(number));
}

void give_integers(FoldTask& task, DType dtype, const Sizes& numbers) {
  std::string bytes;
  for (const int64_t number : numbers) append_integer(bytes, dtype, number);
  task.give(dtype, {static_cast<int64_t>(numbers.size())}, std::move(bytes));
}

// A tensor of which all elements are the one.
void give_splat(FoldTask& task, const Sizes& shape, const ConstTensor& one) {
  task.give(viewed(task, one.reshaped({}), {shape, Sizes(shape.size(), 0), 0}, shape));
}

Sizes sizes_of(const FoldTask& task, size_t i) {
  FoldTask::require(task.input(i).rank() == 1, "a shape should be a vector");
  Sizes sizes = task.values(i);
  for (const int64_t size : sizes) FoldTask::require(size >= 0, "a size is negative");
  return sizes;
}

}  // namespace

void fold_fill(FoldTask& task) {
  const ConstTensor& value = task.input(1);
  FoldTask::require(value.rank() == 0, "an input should be a scalar");
  give_splat(task, sizes_of(task, 0), value);
}

void fold_zeros_like(FoldTask& task) {
  const ConstTensor& like = task.input(0);
  FoldTask::require(like.dtype() != DType::kString, "not of this dtype");
  give_splat(task, like.shape(), ConstTensor::owning(like.dtype(), {}, std::string(like.width(), '\0')));
}

void fold_ones_like(FoldTask& task) {
  const ConstTensor& like = task.input(0);
  std::string one;
  const bool known = like.dtype() == DType::kBool ? (append_number(one, uint8_t{1}), true)
                                                  : with_number(like.dtype(), [&]<typename T>(T) {
                                                      if constexpr (WholeNumber<T>) {
                                                        append_number(one, T{1});
                                                      } else {
                                                        append_number(one, narrow<T>(1));
                                                      }
                                                    });
  FoldTask::require(known, "not of this dtype");
  give_splat(task, like.shape(), ConstTensor::owning(like.dtype(), {}, std::move(one)));
}

void fold_range(FoldTask& task) {
  const DType dtype = task.input(0).dtype();
  FoldTask::require(dtype == DType::kInt32 || dtype == DType::kInt64, "not of this dtype");
  for (size_t i = 0; i < 3; ++i) FoldTask::require(task.input(i).rank() == 0, "an input should be a scalar");
  const int64_t start = task.scalar(0), limit = task.scalar(1), delta = task.scalar(2);
  FoldTask::require(delta != 0 && (delta > 0 ? start <= limit : start >= limit), "no such range");
  int64_t distance = 0, last = 0;
  FoldTask::require(!__builtin_sub_overflow(limit, start, &distance) &&
                        !__builtin_add_overflow(distance, delta, &last) &&
                        std::min(delta, last) != std::numeric_limits<int64_t>::min(),
                    "a range of large numbers");
  if (dtype == DType::kInt32) {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    FoldTask::require(std::abs(distance) <= kMost && std::abs(last) <= kMost && std::abs(delta) <= kMost,
                      "a range of large numbers");
  }
  const int64_t count = (std::abs(distance) + std::abs(delta) - 1) / std::abs(delta);
  std::string bytes = task.room(task.elements({count}, dtype), dtype_width(dtype));
  for (int64_t i = 0; i < count; ++i) append_integer(bytes, dtype, start + i * delta);
  task.give(dtype, {count}, std::move(bytes));
}

void fold_one_hot(FoldTask& task) {
  const ConstTensor &indices = task.input(0), &on = task.input(2), &off = task.input(3);
  const int64_t depth = task.scalar(1), written = task.integer("axis", -1);
  FoldTask::require(depth >= 0 && on.rank() == 0 && off.rank() == 0 && task.input(1).rank() == 0,
                    "an input should be a scalar");
  FoldTask::require(written == -1 || written >= 0, "an axis is out of range");
  const size_t axis = FoldTask::axis(written, indices.rank() + 1);
  Sizes shape = indices.shape();
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(axis), depth);
  const uint64_t count = task.elements(shape, on.dtype());
  Assembler all(task, on.dtype(), shape);
  const auto inner = static_cast<uint64_t>(steps_of(shape)[axis]);
  const bool known = with_whole_number(indices.dtype(), [&]<typename T>(T) {
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t outer = i / inner / static_cast<uint64_t>(depth);
      const auto place = static_cast<int64_t>(i / inner % static_cast<uint64_t>(depth));
      const T index = indices.as<T>(outer * inner + i % inner);
      all.append(std::cmp_equal(index, place) ? on : off, 0, 1);
    }
  });
  FoldTask::require(known, "not of this dtype");
  task.give(all.take());
}

// The places of what is true, one row each.
void fold_where(FoldTask& task) {
  const ConstTensor& value = task.input(0);
  FoldTask::require(value.dtype() == DType::kBool && value.rank() >= 1, "not of this dtype");
  const uint64_t count = task.elements(value.shape(), DType::kInt64);
  std::string bytes = task.room(count * value.rank(), sizeof(int64_t));
  const Sizes steps = steps_of(value.shape());
  int64_t rows = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (value.as<uint8_t>(i) == 0) continue;
    ++rows;
    for (size_t k = 0; k < value.rank(); ++k)
      append_number(bytes, static_cast<int64_t>(i) / steps[k] % value.shape()[k]);
  }
  task.give(DType::kInt64, {rows, static_cast<int64_t>(value.rank())}, std::move(bytes));
}

void fold_invert_permutation(FoldTask& task) {
  const ConstTensor& value = task.input(0);
  FoldTask::require(value.rank() == 1, "an input should be a vector");
  const Sizes order = task.values(0);
  Sizes inverse(order.size(), -1);
  for (size_t i = 0; i < order.size(); ++i) {
    FoldTask::require(order[i] >= 0 && std::cmp_less(order[i], order.size()), "no permutation");
    int64_t& to = inverse[static_cast<size_t>(order[i])];
    FoldTask::require(to == -1, "no permutation");
    to = static_cast<int64_t>(i);
  }
  give_integers(task, value.dtype(), inverse);
}

void fold_broadcast_args(FoldTask& task) {
  give_integers(task, task.input(0).dtype(), broadcast_shape(sizes_of(task, 0), sizes_of(task, 1)));
}

// The dimensions of the common shape in which each of the two is repeated.
void fold_broadcast_gradient_args(FoldTask& task) {
  const Sizes a = sizes_of(task, 0), b = sizes_of(task, 1), shape = broadcast_shape(a, b);
  const auto repeated = [&](const Sizes& sizes, const Sizes& other) {
    Sizes found;
    for (size_t i = 0; i < shape.size(); ++i) {
      const size_t lacks = shape.size() - sizes.size(), other_lacks = shape.size() - other.size();
      const int64_t size = i < lacks ? 1 : sizes[i - lacks];
      const int64_t other_size = i < other_lacks ? 1 : other[i - other_lacks];
      // Where both are 1 releases name the dimension in both lists or in none.
      FoldTask::require(size != 1 || other_size != 1 || sizes == other, "a dimension of 1 in both");
      if (sizes != other && size == 1) found.push_back(static_cast<int64_t>(i));
    }
    return found;
  };
  const DType dtype = task.input(0).dtype();
  const Sizes of_a = repeated(a, b), of_b = repeated(b, a);
  give_integers(task, dtype, of_a);
  give_integers(task, dtype, of_b);
}

// Where each of several shapes begins along an axis when they are joined.
void fold_concat_offset(FoldTask& task) {
  const int64_t written = task.scalar(0);
  FoldTask::require(task.inputs.size() >= 2, "an input is missing");
  const DType dtype = task.input(1).dtype();
  const Sizes first = sizes_of(task, 1);
  const size_t axis = FoldTask::axis(written, first.size());
  int64_t offset = 0;
  for (size_t k = 1; k < task.inputs.size(); ++k) {
    const Sizes sizes = sizes_of(task, k);
    FoldTask::require(sizes.size() == first.size(), "shapes do not agree");
    for (size_t i = 0; i < sizes.size(); ++i)
      FoldTask::require(i == axis || sizes[i] == first[i], "shapes do not agree");
    Sizes offsets(first.size(), 0);
    offsets[axis] = offset;
    FoldTask::require(offset <= std::numeric_limits<int32_t>::max() &&
                          !__builtin_add_overflow(offset, sizes[axis], &offset),
                      "a result would be enormous");
    give_integers(task, dtype, offsets);
  }
}

}  // namespace gedit::folding
