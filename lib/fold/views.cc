// Elements seen in another shape or order, all or some of them.
#include <algorithm>

#include "fold/fold.h"
#include "fold/rules.h"

namespace gedit::folding {
namespace {

StridedView whole(const ConstTensor& value) { return {value.shape(), steps_of(value.shape()), 0}; }

// The elements begin .. begin + size - 1 along an axis.
void give_part(FoldTask& task, const ConstTensor& value, size_t axis, int64_t begin, int64_t size) {
  StridedView view = whole(value);
  view.offset = begin * view.steps[axis];
  view.shape[axis] = size;
  Sizes shape = view.shape;
  task.give(viewed(task, value, view, std::move(shape)));
}

}  // namespace

void fold_identity(FoldTask& task) { task.give(task.input(0)); }
void fold_identity_n(FoldTask& task) {
  for (const ConstTensor& input : task.inputs) task.give(input);
}

void fold_reshape(FoldTask& task) {
  const ConstTensor& value = task.input(0);
  FoldTask::require(task.input(1).rank() == 1, "a shape should be a vector");
  Sizes shape = task.values(1);
  int64_t known = 1;
  std::optional<size_t> open;
  for (size_t i = 0; i < shape.size(); ++i) {
    FoldTask::require(shape[i] >= -1, "a size is negative");
    if (shape[i] == -1) {
      FoldTask::require(!open, "two sizes are open");
      open = i;
    } else {
      FoldTask::require(!__builtin_mul_overflow(known, shape[i], &known), "a result would be enormous");
    }
  }
  const auto count = static_cast<int64_t>(value.count());
  if (open) {
    FoldTask::require(known > 0 && count % known == 0, "the elements do not fit the shape");
    shape[*open] = count / known;
  }
  FoldTask::require(task.elements(shape, value.dtype()) == value.count(),
                    "the elements do not fit the shape");
  task.give(viewed(task, value, whole(value), std::move(shape)));
}

void fold_expand_dims(FoldTask& task) {
  const ConstTensor& value = task.input(0);
  Sizes shape = value.shape();
  const size_t axis = FoldTask::axis(task.scalar(1), shape.size() + 1);
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(axis), 1);
  task.give(viewed(task, value, whole(value), std::move(shape)));
}

void fold_squeeze(FoldTask& task) {
  const ConstTensor& value = task.input(0);
  const Sizes axes = task.integers("squeeze_dims");
  std::vector<bool> gone(value.rank(), false);
  for (const int64_t axis : axes) gone[FoldTask::axis(axis, value.rank())] = true;
  Sizes shape;
  for (size_t i = 0; i < value.rank(); ++i) {
    FoldTask::require(!gone[i] || value.shape()[i] == 1, "a dimension is not 1");
    if (axes.empty() ? value.shape()[i] != 1 : !gone[i]) shape.push_back(value.shape()[i]);
  }
  task.give(viewed(task, value, whole(value), std::move(shape)));
}

void fold_transpose(FoldTask& task) {
  const ConstTensor& value = task.input(0);
  const Sizes order = task.values(1), steps = steps_of(value.shape());
  FoldTask::require(order.size() == value.rank(), "no permutation of the dimensions");
  std::vector<bool> seen(value.rank(), false);
  StridedView view;
  for (const int64_t written : order) {
    const size_t axis = FoldTask::axis(written, value.rank());
    FoldTask::require(!seen[axis] && written >= 0, "no permutation of the dimensions");
    seen[axis] = true;
    view.shape.push_back(value.shape()[axis]);
    view.steps.push_back(steps[axis]);
  }
  Sizes shape = view.shape;
  task.give(viewed(task, value, view, std::move(shape)));
}

void fold_broadcast_to(FoldTask& task) {
  const ConstTensor& value = task.input(0);
  Sizes shape = task.values(1);
  task.elements(shape, value.dtype());
  FoldTask::require(task.input(1).rank() == 1 && shape.size() >= value.rank() &&
                        broadcast_shape(value.shape(), shape) == shape,
                    "shapes do not agree");
  const StridedView view = broadcast_view(value.shape(), shape);
  task.give(viewed(task, value, view, std::move(shape)));
}

void fold_tile(FoldTask& task) {
  const ConstTensor& value = task.input(0);
  const Sizes times = task.values(1), steps = steps_of(value.shape());
  FoldTask::require(task.input(1).rank() == 1 && times.size() == value.rank(),
                    "not a number for each dimension");
  StridedView view;
  Sizes shape;
  for (size_t i = 0; i < times.size(); ++i) {
    FoldTask::require(times[i] >= 0, "a size is negative");
    view.shape.insert(view.shape.end(), {times[i], value.shape()[i]});
    view.steps.insert(view.steps.end(), {0, steps[i]});
    int64_t size = 0;
    FoldTask::require(!__builtin_mul_overflow(times[i], value.shape()[i], &size),
                      "a result would be enormous");
    shape.push_back(size);
  }
  task.give(viewed(task, value, view, std::move(shape)));
}

void fold_reverse(FoldTask& task) {
  const ConstTensor& value = task.input(0);
  StridedView view = whole(value);
  std::vector<bool> seen(value.rank(), false);
  for (const int64_t written : task.values(1)) {
    const size_t axis = FoldTask::axis(written, value.rank());
    FoldTask::require(!seen[axis], "an axis is named twice");
    seen[axis] = true;
    view.offset += (view.shape[axis] - 1) * view.steps[axis];
    view.steps[axis] = -view.steps[axis];
  }
  Sizes shape = view.shape;
  task.give(viewed(task, value, view, std::move(shape)));
}

void fold_slice(FoldTask& task) {
  const ConstTensor& value = task.input(0);
  const Sizes begin = task.values(1), size = task.values(2);
  FoldTask::require(begin.size() == value.rank() && size.size() == value.rank(),
                    "not a number for each dimension");
  StridedView view = whole(value);
  for (size_t i = 0; i < begin.size(); ++i) {
    const int64_t all = value.shape()[i];
    FoldTask::require(begin[i] >= 0 && begin[i] <= all, "a slice is out of range");
    const int64_t taken = size[i] == -1 ? all - begin[i] : size[i];
    FoldTask::require(taken >= 0 && taken <= all - begin[i], "a slice is out of range");
    view.offset += begin[i] * view.steps[i];
    view.shape[i] = taken;
  }
  Sizes shape = view.shape;
  task.give(viewed(task, value, view, std::move(shape)));
}

void fold_split(FoldTask& task) {
  const ConstTensor& value = task.input(1);
  const size_t axis = FoldTask::axis(task.scalar(0), value.rank());
  const int64_t parts = task.integer("num_split", 0), size = value.shape()[axis];
  FoldTask::require(parts > 0 && parts <= kMostPieces && size % parts == 0, "it does not divide");
  for (int64_t i = 0; i < parts; ++i) give_part(task, value, axis, i * (size / parts), size / parts);
}

void fold_split_v(FoldTask& task) {
  const ConstTensor& value = task.input(0);
  Sizes sizes = task.values(1);
  const size_t axis = FoldTask::axis(task.scalar(2), value.rank());
  const int64_t whole_size = value.shape()[axis];
  FoldTask::require(task.input(1).rank() == 1 && !sizes.empty() && sizes.size() <= kMostPieces &&
                        static_cast<int64_t>(sizes.size()) == task.integer("num_split", 0),
                    "it does not divide");
  int64_t rest = whole_size;
  int64_t* open = nullptr;
  for (int64_t& size : sizes) {
    if (size == -1 && open == nullptr && sizes.size() > 1) {
      open = &size;
      continue;
    }
    FoldTask::require(size >= 0 && size <= rest, "it does not divide");
    rest -= size;
  }
  if (open != nullptr) {
    *open = rest;
    rest = 0;
  }
  FoldTask::require(rest == 0, "it does not divide");
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    give_part(task, value, axis, begin, size);
    begin += size;
  }
}

void fold_unpack(FoldTask& task) {
  const ConstTensor& value = task.input(0);
  const size_t axis = FoldTask::axis(task.integer("axis", 0), value.rank());
  const int64_t parts = value.shape()[axis];
  FoldTask::require(parts == task.integer("num", -1) && parts > 0 && parts <= kMostPieces,
                    "not as many parts");
  Sizes shape = value.shape();
  shape.erase(shape.begin() + static_cast<ptrdiff_t>(axis));
  for (int64_t i = 0; i < parts; ++i) {
    StridedView view = whole(value);
    view.offset = i * view.steps[axis];
    view.shape[axis] = 1;
    task.give(viewed(task, value, view, shape));
  }
}

}  // namespace gedit::folding
