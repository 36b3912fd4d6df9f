// What is made of each element by itself, conversions among it.
#include <cmath>
#include <limits>

#include "fold/elementwise.h"
#include "fold/rules.h"

namespace gedit::folding {
namespace {

template <typename Compute>
void of_whole_numbers(FoldTask& task, Compute compute) {
  const DType dtype = task.input(0).dtype();
  FoldTask::require(with_whole_number(dtype, [&]<typename T>(T) { each_element<T>(task, dtype, compute); }),
                    "not of this dtype");
}

// compute(x) of integers, and of floats as float or double.
template <typename Compute>
void of_numbers(FoldTask& task, Compute compute) {
  const DType dtype = task.input(0).dtype();
  if (with_whole_number(dtype, [&]<typename T>(T) { each_element<T>(task, dtype, compute); })) return;
  FoldTask::require(with_float_number(dtype,
                                      [&]<typename T>(T) {
                                        each_element<T>(task, dtype, [&](T number) {
                                          require_plain(number);
                                          const T result = narrow<T>(compute(wide(number)));
                                          require_plain_result(result);
                                          return result;
                                        });
                                      }),
                    "not of this dtype");
}

// Rounding and cutting to zero: of which sign it is then, is not told.
template <typename Compute>
void of_floats(FoldTask& task, Compute compute) {
  const DType dtype = task.input(0).dtype();
  FoldTask::require(with_float_number(dtype, [](auto) {}), "not of this dtype");
  of_numbers(task, [&]<typename T>(T number) -> T {
    if constexpr (std::floating_point<T>) {
      const T result = compute(number);
      FoldTask::require(result != 0 || !std::signbit(number) || number < T{-1}, "a zero of either sign");
      return result;
    } else {
      return number;
    }
  });
}

// As a float, where it does not matter whether a number went through a float on its way to 16 bits.
template <typename From, typename Rounded>
Rounded through_float(From number, Rounded (*round)(float)) {
  const auto middle = static_cast<float>(number);
  const Rounded result = round(middle);
  if (std::isinf(middle) || static_cast<long double>(middle) == static_cast<long double>(number))
    return result;
  const float toward = static_cast<long double>(middle) < static_cast<long double>(number)
                           ? std::numeric_limits<float>::infinity()
                           : -std::numeric_limits<float>::infinity();
  FoldTask::require(round(std::nextafter(middle, toward)) == result, "a number is rounded twice");
  return result;
}

template <typename To, typename From>
To converted(From number) {
  if constexpr (std::same_as<From, bool>) {
    return converted<To>(static_cast<uint8_t>(number ? 1 : 0));
  } else if constexpr (std::same_as<To, bool>) {
    return number != 0;
  } else if constexpr (std::same_as<To, HalfBits>) {
    return {through_float<From, uint16_t>(number, half_bits)};
  } else if constexpr (std::same_as<To, Bfloat16Bits>) {
    return {through_float<From, uint16_t>(number, bfloat16_bits)};
  } else if constexpr (std::floating_point<From> && std::integral<To>) {
    const From whole = std::trunc(number);
    // Both bounds are powers of two or zero, which every float format has.
    const From above = std::ldexp(From{1}, std::numeric_limits<To>::digits);
    const From least = static_cast<From>(std::numeric_limits<To>::min());
    FoldTask::require(whole >= least && whole < above, "a number is out of the integers' range");
    FoldTask::require(std::is_signed_v<To> || !std::signbit(number), "a number is negative");
    return static_cast<To>(whole);
  } else {
    return static_cast<To>(number);
  }
}

template <typename From, typename To>
void cast_elements(FoldTask& task, DType result) {
  each_element<From>(task, result, [](From number) {
    if constexpr (FloatNumber<From>) {
      require_normal(number);
      if constexpr (!std::same_as<To, bool>) require_plain(number);
    }
    const To to = converted<To>(wide(number));
    if constexpr (FloatNumber<To>) require_plain_result(to);
    return to;
  });
}

template <typename Use>
bool with_cast_type(DType dtype, Use use) {
  if (dtype == DType::kBool) return use(bool{}), true;
  return with_number(dtype, use);
}

}  // namespace

void fold_neg(FoldTask& task) {
  of_numbers(task, []<typename T>(T number) {
    if constexpr (std::integral<T>) {
      return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(number));
    } else {
      // Some kernels subtract from zero.
      FoldTask::require(number != 0, "a zero of either sign");
      return -number;
    }
  });
}

void fold_abs(FoldTask& task) {
  of_numbers(task, []<typename T>(T number) -> T {
    if constexpr (!std::integral<T>) {
      return std::abs(number);
    } else if constexpr (std::is_signed_v<T>) {
      FoldTask::require(number != std::numeric_limits<T>::min(), "the least number has no opposite");
      return static_cast<T>(number < 0 ? -number : number);
    } else {
      return number;
    }
  });
}

void fold_sign(FoldTask& task) {
  of_whole_numbers(task, []<typename T>(T number) { return static_cast<T>((number > 0) - (number < 0)); });
}

void fold_square(FoldTask& task) {
  of_numbers(task, []<typename T>(T number) {
    if constexpr (std::integral<T>) {
      return static_cast<T>(static_cast<uint64_t>(number) * static_cast<uint64_t>(number));
    } else {
      return number * number;
    }
  });
}

void fold_floor(FoldTask& task) {
  of_floats(task, [](auto number) { return std::floor(number); });
}
void fold_ceil(FoldTask& task) {
  of_floats(task, [](auto number) { return std::ceil(number); });
}

void fold_relu(FoldTask& task) {
  of_numbers(task, []<typename T>(T number) {
    if constexpr (std::floating_point<T>)
      FoldTask::require(number != 0 || !std::signbit(number), "a zero of either sign");
    return number < T{0} ? T{0} : number;
  });
}

void fold_relu6(FoldTask& task) {
  of_numbers(task, []<typename T>(T number) {
    if constexpr (std::floating_point<T>)
      FoldTask::require(number != 0 || !std::signbit(number), "a zero of either sign");
    return number < T{0} ? T{0} : number > T{6} ? T{6} : number;
  });
}

void fold_invert(FoldTask& task) {
  of_whole_numbers(task, []<typename T>(T number) { return static_cast<T>(~number); });
}

void fold_cast(FoldTask& task) {
  const ConstTensor& from = task.input(0);
  const DType to = task.type("DstT", DType::kInvalid);
  FoldTask::require(!task.flag("Truncate", false), "a conversion that truncates");
  if (from.dtype() == to) return task.give(from);
  bool known = false;
  with_cast_type(from.dtype(), [&]<typename From>(From) {
    known = with_cast_type(to, [&]<typename To>(To) { cast_elements<From, To>(task, to); });
  });
  FoldTask::require(known, "not between these dtypes");
}

}  // namespace gedit::folding
