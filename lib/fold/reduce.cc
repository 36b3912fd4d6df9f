// Reductions of integers and bool, which wrap and so have no order.
#include <algorithm>
#include <limits>

#include "fold/elementwise.h"
#include "fold/rules.h"

namespace gedit::folding {
namespace {

struct Reduction {
  Sizes kept;       // the shape of the result
  StridedView all;  // over the input's elements: where in the result each goes
  uint64_t results = 0;
};

Reduction plan(FoldTask& task, DType result) {
  const Sizes& shape = task.input(0).shape();
  std::vector<bool> reduced(shape.size(), false);
  for (const int64_t written : task.values(1)) {
    const size_t axis = FoldTask::axis(written, shape.size());
    FoldTask::require(!reduced[axis], "an axis is named twice");
    reduced[axis] = true;
  }
  const bool keeps = task.flag("keep_dims", false);
  Sizes sizes(shape.size(), 1);
  Reduction reduction;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!reduced[i]) sizes[i] = shape[i];
    if (!reduced[i] || keeps) reduction.kept.push_back(sizes[i]);
  }
  reduction.results = task.elements(reduction.kept, result);
  reduction.all = {shape, steps_of(sizes), 0};
  for (size_t i = 0; i < shape.size(); ++i) {
    if (reduced[i]) reduction.all.steps[i] = 0;
  }
  return reduction;
}

// Calls use(element number, result number) for all elements.
template <typename Use>
void each_place(const Reduction& reduction, uint64_t count, Use use) {
  const Sizes &shape = reduction.all.shape, &steps = reduction.all.steps;
  Sizes place(shape.size(), 0);
  int64_t at = 0;
  for (uint64_t i = 0; i < count; ++i) {
    use(i, static_cast<size_t>(at));
    for (size_t k = shape.size(); k-- > 0;) {
      at += steps[k];
      if (++place[k] < shape[k]) break;
      at -= steps[k] * shape[k];
      place[k] = 0;
    }
  }
}

template <typename T, typename Combine>
void reduce(FoldTask& task, T start, Combine combine) {
  const ConstTensor& input = task.input(0);
  const uint64_t count = task.elements(input.shape(), input.dtype());
  const Reduction reduction = plan(task, input.dtype());
  task.room(count - std::min(count, input.held()), sizeof(T));  // what repeats takes time as if it were there
  std::string bytes = task.room(reduction.results, sizeof(T));
  bytes.resize(reduction.results * sizeof(T));
  std::vector<T> results(reduction.results, start);
  each_place(reduction, count, [&](uint64_t i, size_t to) {
    results[to] = static_cast<T>(combine(results[to], element_at<T>(input, i)));
  });
  bytes.clear();
  for (const T result : results) append_number(bytes, result);
  task.give(input.dtype(), reduction.kept, std::move(bytes));
}

void require_some(const FoldTask& task) {
  FoldTask::require(task.input(0).count() > 0, "nothing is reduced");
}

template <typename Use>
void of_integers(FoldTask& task, Use use) {
  FoldTask::require(with_whole_number(task.input(0).dtype(), use), "not of this dtype");
}

template <typename Better>
void arg_extreme(FoldTask& task, Better better) {
  const ConstTensor& input = task.input(0);
  require_some(task);
  const DType result = task.type("output_type", DType::kInt64);
  FoldTask::require(result == DType::kInt64 || result == DType::kInt32, "not of this dtype");
  const size_t axis = FoldTask::axis(task.scalar(1), input.rank());
  Sizes kept = input.shape();
  kept.erase(kept.begin() + static_cast<ptrdiff_t>(axis));
  const uint64_t results = task.elements(kept, result);
  task.room(task.elements(input.shape(), input.dtype()), input.width());
  std::string bytes = task.room(results, dtype_width(result));
  const auto size = static_cast<uint64_t>(input.shape()[axis]);
  const auto step = static_cast<uint64_t>(steps_of(input.shape())[axis]);
  of_integers(task, [&]<typename T>(T) {
    for (uint64_t i = 0; i < results; ++i) {
      const uint64_t first = i / step * step * size + i % step;
      uint64_t found = 0;
      bool tied = false;
      for (uint64_t k = 1; k < size; ++k) {
        const T here = element_at<T>(input, first + k * step),
                best = element_at<T>(input, first + found * step);
        if (here != best && !better(here, best)) continue;
        tied = here == best;
        if (!tied) found = k;
      }
      FoldTask::require(!tied, "several elements are the most extreme");  // releases name another one
      if (result == DType::kInt32) {
        append_number(bytes, static_cast<int32_t>(found));
      } else {
        append_number(bytes, static_cast<int64_t>(found));
      }
    }
  });
  task.give(result, kept, std::move(bytes));
}

}  // namespace

void fold_sum(FoldTask& task) {
  of_integers(task, [&]<typename T>(T) {
    reduce<T>(task, 0, [](T a, T b) { return static_cast<uint64_t>(a) + static_cast<uint64_t>(b); });
  });
}
void fold_prod(FoldTask& task) {
  of_integers(task, [&]<typename T>(T) {
    reduce<T>(task, 1, [](T a, T b) { return static_cast<uint64_t>(a) * static_cast<uint64_t>(b); });
  });
}
void fold_max(FoldTask& task) {
  require_some(task);
  of_integers(task, [&]<typename T>(T) {
    reduce<T>(task, std::numeric_limits<T>::min(), [](T a, T b) { return std::max(a, b); });
  });
}
void fold_min(FoldTask& task) {
  require_some(task);
  of_integers(task, [&]<typename T>(T) {
    reduce<T>(task, std::numeric_limits<T>::max(), [](T a, T b) { return std::min(a, b); });
  });
}
void fold_any(FoldTask& task) {
  reduce<uint8_t>(task, 0, [](uint8_t a, uint8_t b) { return a | b; });
}
void fold_all(FoldTask& task) {
  reduce<uint8_t>(task, 1, [](uint8_t a, uint8_t b) { return a & b; });
}
void fold_arg_max(FoldTask& task) {
  arg_extreme(task, [](auto a, auto b) { return a > b; });
}
void fold_arg_min(FoldTask& task) {
  arg_extreme(task, [](auto a, auto b) { return a < b; });
}

}  // namespace gedit::folding
