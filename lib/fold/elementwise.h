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

template <typename T>
T number_at(const char* place) {
  T number;
  std::memcpy(&number, place, sizeof number);
  return number;
}

// Elements of an operand that lie `step` bytes apart.
struct ElementRow {
  const char* first;
  int64_t step;
};

// Two operands, seen in one shape. Steps are not negative, offsets zero.
struct OperandPair {
  const ConstTensor& a;
  StridedView view_a;
  const ConstTensor& b;
  StridedView view_b;
};

// What all types of elements have in common is compiled once: these two alone know T. They write `number`
// elements of a result at `to`; `compute` is the function that gives one.
using OfElements = void (*)(const void* compute, const char* from, uint64_t number, char* to);
using OfPairs = void (*)(const void* compute, ElementRow a, ElementRow b, uint64_t number, char* to);

// Gives what `make` makes, elements of `width` bytes: of those of input 0, the ones that repeat once.
void give_of_elements(FoldTask& task, DType result, size_t width, const void* compute, OfElements make);
// The same of both operands, row by row.
void give_of_pairs(FoldTask& task, const OperandPair& operands, DType result, size_t width,
                   const void* compute, OfPairs make);

// The result of compute(T) for each element of input 0, as a tensor of `result`.
template <typename T, typename Compute>
void each_element(FoldTask& task, DType result, const Compute& compute) {
  using Made = decltype(compute(T{}));
  give_of_elements(task, result, sizeof(Made), &compute,
                   [](const void* with, const char* from, uint64_t number, char* to) {
                     for (; number > 0; --number, from += sizeof(T), to += sizeof(Made)) {
                       const Made made = (*static_cast<const Compute*>(with))(number_at<T>(from));
                       std::memcpy(to, &made, sizeof made);
                     }
                   });
}

// The result of compute(T, T) for each pair of elements.
template <typename T, typename Compute>
void each_pair_of(FoldTask& task, const OperandPair& operands, DType result, const Compute& compute) {
  using Made = decltype(compute(T{}, T{}));
  give_of_pairs(task, operands, result, sizeof(Made), &compute,
                [](const void* with, ElementRow a, ElementRow b, uint64_t number, char* to) {
                  for (; number > 0; --number, a.first += a.step, b.first += b.step, to += sizeof(Made)) {
                    const Made made =
                        (*static_cast<const Compute*>(with))(number_at<T>(a.first), number_at<T>(b.first));
                    std::memcpy(to, &made, sizeof made);
                  }
                });
}

// Inputs 0 and 1, which broadcast.
OperandPair broadcast_pair(const FoldTask& task);

template <typename T, typename Compute>
void each_pair(FoldTask& task, DType result, const Compute& compute) {
  each_pair_of<T>(task, broadcast_pair(task), result, compute);
}

}  // namespace gedit::folding
