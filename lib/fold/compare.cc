// Comparisons and logic.
#include "fold/elementwise.h"
#include "fold/rules.h"

namespace gedit::folding {
namespace {

template <typename Compare>
void compare(FoldTask& task, Compare holds) {
  const auto pair = [&]<typename T>(T) {
    each_pair<T>(task, DType::kBool, [&](T a, T b) {
      if constexpr (FloatNumber<T>) {
        require_normal(a);
        require_normal(b);
      }
      return holds(wide(a), wide(b));
    });
  };
  FoldTask::require(with_number(task.input(0).dtype(), pair), "not of this dtype");
}

// What bool has, too.
template <typename Compare>
void compare_equal(FoldTask& task, Compare holds) {
  if (task.input(0).dtype() == DType::kBool) {
    each_pair<bool>(task, DType::kBool, holds);
  } else {
    compare(task, holds);
  }
}

}  // namespace

void fold_equal(FoldTask& task) {
  compare_equal(task, [](auto a, auto b) { return a == b; });
}
void fold_not_equal(FoldTask& task) {
  compare_equal(task, [](auto a, auto b) { return a != b; });
}
void fold_less(FoldTask& task) {
  compare(task, [](auto a, auto b) { return a < b; });
}
void fold_less_equal(FoldTask& task) {
  compare(task, [](auto a, auto b) { return a <= b; });
}
void fold_greater(FoldTask& task) {
  compare(task, [](auto a, auto b) { return a > b; });
}
void fold_greater_equal(FoldTask& task) {
  compare(task, [](auto a, auto b) { return a >= b; });
}
void fold_logical_and(FoldTask& task) {
  each_pair<bool>(task, DType::kBool, [](bool a, bool b) { return a && b; });
}
void fold_logical_or(FoldTask& task) {
  each_pair<bool>(task, DType::kBool, [](bool a, bool b) { return a || b; });
}
void fold_logical_not(FoldTask& task) {
  each_element<bool>(task, DType::kBool, [](bool a) { return !a; });
}

}  // namespace gedit::folding
