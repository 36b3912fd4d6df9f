// Arithmetic of two operands. Integers wrap; a float operation is rounded once.
#include <type_traits>

#include "fold/elementwise.h"
#include "fold/rules.h"

namespace gedit::folding {
namespace {

using Wrapping = uint64_t;  // what is computed in it is right in any integer type

struct Adding {
  template <WholeNumber T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<Wrapping>(a) + static_cast<Wrapping>(b));
  }
  template <std::floating_point T>
  static T of(T a, T b) {
    return a + b;
  }
};

struct Subtracting {
  template <WholeNumber T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<Wrapping>(a) - static_cast<Wrapping>(b));
  }
  template <std::floating_point T>
  static T of(T a, T b) {
    return a - b;
  }
};

struct Multiplying {
  template <WholeNumber T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<Wrapping>(a) * static_cast<Wrapping>(b));
  }
  template <std::floating_point T>
  static T of(T a, T b) {
    return a * b;
  }
};

struct Dividing {
  template <std::floating_point T>
  static T of(T a, T b) {
    return a / b;
  }
};

// Which of two zeros is the larger is not told.
template <std::floating_point T>
void require_one_zero(T a, T b) {
  FoldTask::require(a != b || std::signbit(a) == std::signbit(b), "zeros of both signs meet");
}

struct Larger {
  template <WholeNumber T>
  static T of(T a, T b) {
    return a < b ? b : a;
  }
  template <std::floating_point T>
  static T of(T a, T b) {
    require_one_zero(a, b);
    return a < b ? b : a;
  }
};

struct Smaller {
  template <WholeNumber T>
  static T of(T a, T b) {
    return b < a ? b : a;
  }
  template <std::floating_point T>
  static T of(T a, T b) {
    require_one_zero(a, b);
    return b < a ? b : a;
  }
};

struct SquaringDifference {
  template <typename T>
  static T of(T a, T b) {
    const T difference = Subtracting::of(a, b);
    if constexpr (std::floating_point<T>) require_plain_result(difference);
    return Multiplying::of(difference, difference);
  }
};

template <WholeNumber T>
void require_quotient(T a, T b) {
  FoldTask::require(b != 0, "a division by zero");
  if constexpr (std::is_signed_v<T>) {
    FoldTask::require(a != std::numeric_limits<T>::min() && b != std::numeric_limits<T>::min(),
                      "a division of the least number");
  }
}

struct Truncating {
  template <WholeNumber T>
  static T of(T a, T b) {
    require_quotient(a, b);
    return static_cast<T>(a / b);
  }
};

struct TruncatedRest {
  template <WholeNumber T>
  static T of(T a, T b) {
    require_quotient(a, b);
    return static_cast<T>(a % b);
  }
};

struct Flooring {
  template <WholeNumber T>
  static T of(T a, T b) {
    require_quotient(a, b);
    if ((a < 0) == (b < 0)) return static_cast<T>(a / b);
    // Releases differ in how they get there: not where |a| + |b| - 1 overflows, which some compute.
    const uint64_t magnitude_a = a < 0 ? uint64_t{0} - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
    const uint64_t magnitude_b = b < 0 ? uint64_t{0} - static_cast<uint64_t>(b) : static_cast<uint64_t>(b);
    FoldTask::require(magnitude_a + magnitude_b - 1 <= static_cast<uint64_t>(std::numeric_limits<T>::max()),
                      "a division of large numbers");
    return static_cast<T>(a / b - (a % b != 0 ? 1 : 0));
  }
};

struct FlooredRest {
  template <WholeNumber T>
  static T of(T a, T b) {
    require_quotient(a, b);
    const T rest = static_cast<T>(a % b);
    return rest != 0 && (a < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
  }
};

struct And {
  template <WholeNumber T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};

struct Or {
  template <WholeNumber T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};

struct Xor {
  template <WholeNumber T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

// One operation on numbers as they lie in tensors: 16-bit floats go through float, which rounds as if once.
template <typename Operation>
struct OnElements {
  template <WholeNumber T>
  T operator()(T a, T b) const {
    return Operation::template of<T>(a, b);
  }
  template <FloatNumber T>
  T operator()(T a, T b) const {
    require_plain(a);
    require_plain(b);
    const T result = narrow<T>(Operation::of(wide(a), wide(b)));
    require_plain_result(result);
    return result;
  }
};

template <typename Operation>
void whole_numbers(FoldTask& task) {
  const DType dtype = task.input(0).dtype();
  FoldTask::require(
      with_whole_number(dtype, [&]<typename T>(T) { each_pair<T>(task, dtype, OnElements<Operation>()); }),
      "not of this dtype");
}

template <typename Operation>
void floats(FoldTask& task) {
  const DType dtype = task.input(0).dtype();
  FoldTask::require(
      with_float_number(dtype, [&]<typename T>(T) { each_pair<T>(task, dtype, OnElements<Operation>()); }),
      "not of this dtype");
}

template <typename Operation>
void any_numbers(FoldTask& task) {
  const DType dtype = task.input(0).dtype();
  FoldTask::require(
      with_number(dtype, [&]<typename T>(T) { each_pair<T>(task, dtype, OnElements<Operation>()); }),
      "not of this dtype");
}

}  // namespace

void fold_add(FoldTask& task) { any_numbers<Adding>(task); }
void fold_sub(FoldTask& task) { any_numbers<Subtracting>(task); }
void fold_mul(FoldTask& task) { any_numbers<Multiplying>(task); }
void fold_real_div(FoldTask& task) { floats<Dividing>(task); }
void fold_truncate_div(FoldTask& task) { whole_numbers<Truncating>(task); }
void fold_truncate_mod(FoldTask& task) { whole_numbers<TruncatedRest>(task); }
void fold_floor_div(FoldTask& task) { whole_numbers<Flooring>(task); }
void fold_floor_mod(FoldTask& task) { whole_numbers<FlooredRest>(task); }
void fold_maximum(FoldTask& task) { any_numbers<Larger>(task); }
void fold_minimum(FoldTask& task) { any_numbers<Smaller>(task); }
void fold_bitwise_and(FoldTask& task) { whole_numbers<And>(task); }
void fold_bitwise_or(FoldTask& task) { whole_numbers<Or>(task); }
void fold_bitwise_xor(FoldTask& task) { whole_numbers<Xor>(task); }

// Two roundings: not of 16-bit floats, which some kernels round between them.
void fold_squared_difference(FoldTask& task) {
  const DType dtype = task.input(0).dtype();
  FoldTask::require(dtype != DType::kHalf && dtype != DType::kBfloat16, "not of this dtype");
  any_numbers<SquaringDifference>(task);
}

// Floats of more than two are added in an order that kernels choose.
void fold_add_n(FoldTask& task) {
  const ConstTensor& first = task.input(0);
  for (const ConstTensor& input : task.inputs)
    FoldTask::require(input.shape() == first.shape(), "shapes do not agree");
  if (task.inputs.size() == 1) return task.give(first);
  if (task.inputs.size() == 2) return any_numbers<Adding>(task);
  FoldTask::require(with_whole_number(first.dtype(), [](auto) {}), "a sum of more than two floats");
  const std::span<const ConstTensor> all = task.inputs;
  ConstTensor sum = first;
  for (size_t i = 1; i < all.size(); ++i) {
    const std::vector<ConstTensor> two{std::move(sum), all[i]};
    task.inputs = two;
    any_numbers<Adding>(task);
    sum = std::move(task.outputs.back());
    task.outputs.pop_back();
  }
  task.inputs = all;
  task.give(std::move(sum));
}

void fold_bias_add(FoldTask& task) {
  const ConstTensor &value = task.input(0), &bias = task.input(1);
  const std::string_view format = task.text("data_format", "NHWC");
  FoldTask::require(value.rank() >= 2 && bias.rank() == 1, "shapes do not agree");
  FoldTask::require(format == "NHWC" || format == "NCHW", "an unknown data_format");
  const size_t channel = format == "NCHW" ? 1 : value.rank() - 1;
  FoldTask::require(value.shape()[channel] == bias.shape()[0], "shapes do not agree");
  StridedView across{value.shape(), Sizes(value.rank(), 0), 0};
  across.steps[channel] = 1;
  const OperandPair operands{value, {value.shape(), steps_of(value.shape()), 0}, bias, across};
  FoldTask::require(with_number(value.dtype(),
                                [&]<typename T>(T) {
                                  each_pair_of<T>(task, operands, value.dtype(), OnElements<Adding>());
                                }),
                    "not of this dtype");
}

}  // namespace gedit::folding
