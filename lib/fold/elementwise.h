// Goes over the elements of operands side by side.
#pragma once

#include <algorithm>
#include <cstring>

#include "fold/numbers.h"
#include "fold/rule.h"

namespace gedit::folding {

template <typename T>
T element_at(const ConstTensor& from, uint64_t i) {
  T value;
  std::memcpy(&value, from.bytes().data() + std::min(i, from.held() - 1) * sizeof(T), sizeof(T));
  return value;
}

// The result of compute(T) for each element of input 0, as a tensor of `result`. The elements that repeat are
// computed once.
template <typename T, typename Compute>
void each_element(FoldTask& task, DType result, Compute compute) {
  const ConstTensor& from = task.input(0);
  task.elements(from.shape(), result);
  std::string bytes = task.room(from.held(), sizeof(compute(T{})));
  for (uint64_t i = 0; i < from.held(); ++i) append_number(bytes, compute(element_at<T>(from, i)));
  task.give(result, from.shape(), std::move(bytes));
}

// The result of compute(T, T) for inputs `a` and `b`, seen in one shape.
template <typename T, typename Compute>
void each_pair_of(FoldTask& task, const ConstTensor& a, const StridedView& view_a, const ConstTensor& b,
                  const StridedView& view_b, DType result, Compute compute) {
  const Sizes& shape = view_a.shape;
  const uint64_t count = task.elements(shape, result);
  if (count == 0) return task.give(result, shape, {});
  if (a.is_splat() && b.is_splat()) {
    std::string bytes;
    append_number(bytes, compute(element_at<T>(a, 0), element_at<T>(b, 0)));
    return task.give(result, shape, std::move(bytes));
  }
  std::string bytes = task.room(count, sizeof(compute(T{}, T{})));
  Sizes place(shape.size(), 0);
  int64_t at_a = 0, at_b = 0;
  for (uint64_t done = 0; done < count; ++done) {
    append_number(bytes, compute(element_at<T>(a, static_cast<uint64_t>(at_a)),
                                 element_at<T>(b, static_cast<uint64_t>(at_b))));
    for (size_t i = shape.size(); i-- > 0;) {
      at_a += view_a.steps[i];
      at_b += view_b.steps[i];
      if (++place[i] < shape[i]) break;
      at_a -= view_a.steps[i] * shape[i];
      at_b -= view_b.steps[i] * shape[i];
      place[i] = 0;
    }
  }
  task.give(result, shape, std::move(bytes));
}

// The same of inputs 0 and 1, which broadcast.
template <typename T, typename Compute>
void each_pair(FoldTask& task, DType result, Compute compute) {
  const ConstTensor &a = task.input(0), &b = task.input(1);
  const Sizes shape = broadcast_shape(a.shape(), b.shape());
  each_pair_of<T>(task, a, broadcast_view(a.shape(), shape), b, broadcast_view(b.shape(), shape), result,
                  compute);
}

}  // namespace gedit::folding
