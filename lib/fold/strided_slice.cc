// x[a:b:c, ..., None, d], as tensorflow/core/util/strided_slice_op.cc understands it.
#include <algorithm>
#include <limits>
#include <utility>

#include "fold/rules.h"

namespace gedit::folding {
namespace {

struct SlicedAxis {
  int64_t begin = 0, end = 0, step = 1;
  bool from_start = true, to_end = true, one = false;  // one: an index, whose dimension goes
};

// Of every dimension of the value what is taken, and of the result's dimensions which they are; -1 is a new
// one.
struct SlicePlan {
  std::vector<SlicedAxis> axes;
  std::vector<int64_t> result;
};

bool bit(int64_t mask, size_t i) { return i < 32 && (mask >> i & 1) != 0; }

SlicePlan plan(FoldTask& task, size_t rank) {
  const Sizes begin = task.values(1), end = task.values(2), step = task.values(3);
  const size_t entries = begin.size();
  FoldTask::require(end.size() == entries && step.size() == entries && entries < 32,
                    "not one number for each");
  const int64_t begin_mask = task.integer("begin_mask", 0), end_mask = task.integer("end_mask", 0),
                ellipsis_mask = task.integer("ellipsis_mask", 0), new_mask = task.integer("new_axis_mask", 0),
                shrink_mask = task.integer("shrink_axis_mask", 0);
  size_t ellipsis = entries, new_behind = 0;
  for (size_t i = 0; i < entries; ++i) {
    if (bit(ellipsis_mask, i)) {
      FoldTask::require(ellipsis == entries, "two ellipses");
      ellipsis = i;
    } else if (ellipsis < entries && bit(new_mask, i)) {
      ++new_behind;
    }
  }
  SlicePlan plan;
  const auto rest = [&](size_t until) {
    while (plan.axes.size() < until) {
      plan.result.push_back(static_cast<int64_t>(plan.axes.size()));
      plan.axes.emplace_back();
    }
  };
  for (size_t i = 0; i < entries; ++i) {
    if (i == ellipsis) {
      const size_t behind = entries - i - 1 - new_behind;  // entries that take a dimension
      FoldTask::require(behind + plan.axes.size() <= rank, "more indices than dimensions");
      rest(rank - behind);
      continue;
    }
    if (bit(new_mask, i)) {
      plan.result.push_back(-1);
      continue;
    }
    FoldTask::require(plan.axes.size() < rank, "more indices than dimensions");
    const bool one = bit(shrink_mask, i);
    // An index of which the mask says to leave out its begin: releases differ.
    FoldTask::require(!one || !bit(begin_mask, i), "an index without a number");
    if (!one) plan.result.push_back(static_cast<int64_t>(plan.axes.size()));
    plan.axes.push_back({begin[i], end[i], step[i], bit(begin_mask, i), bit(end_mask, i), one});
  }
  rest(rank);
  return plan;
}

// The first element that is taken, and how many.
std::pair<int64_t, int64_t> taken(const SlicedAxis& axis, int64_t size) {
  FoldTask::require(axis.step != 0 && axis.step != std::numeric_limits<int64_t>::min(), "a step of zero");
  const auto from_front = [&](int64_t place) { return place < 0 ? place + size : place; };
  if (axis.one) {
    const int64_t at = from_front(axis.begin);
    FoldTask::require(axis.step > 0 && at >= 0 && at < size, "an index is out of range");
    return {at, 1};
  }
  const int64_t least = axis.step > 0 ? 0 : -1, most = axis.step > 0 ? size : size - 1;
  const auto settled = [&](int64_t place, bool open, int64_t otherwise) {
    return open ? otherwise : std::clamp(from_front(place), least, most);
  };
  const int64_t begin = settled(axis.begin, axis.from_start, axis.step > 0 ? least : most);
  const int64_t end = settled(axis.end, axis.to_end, axis.step > 0 ? most : least);
  const int64_t length = axis.step > 0 ? end - begin : begin - end;
  const int64_t step = axis.step > 0 ? axis.step : -axis.step;
  return {begin, length <= 0 ? 0 : (length - 1) / step + 1};
}

}  // namespace

void fold_strided_slice(FoldTask& task) {
  const ConstTensor& value = task.input(0);
  const SlicePlan slices = plan(task, value.rank());
  StridedView view{value.shape(), steps_of(value.shape()), 0};
  for (size_t i = 0; i < slices.axes.size(); ++i) {
    const auto [first, number] = taken(slices.axes[i], value.shape()[i]);
    if (number > 0) view.offset += first * view.steps[i];
    view.shape[i] = number;
    // Of one element the step does not matter; of several it is smaller than the dimension.
    view.steps[i] = number > 1 ? view.steps[i] * slices.axes[i].step : 0;
  }
  Sizes shape;
  for (const int64_t axis : slices.result)
    shape.push_back(axis < 0 ? 1 : view.shape[static_cast<size_t>(axis)]);
  task.give(viewed(task, value, view, std::move(shape)));
}

}  // namespace gedit::folding
