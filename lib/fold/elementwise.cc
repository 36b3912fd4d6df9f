#include "fold/elementwise.h"

namespace gedit::folding {
namespace {

// `number` elements from `at` on, every `step`th, or as many of them as lie evenly: the last one that is held
// stands for all behind it.
ElementRow row_of(const ConstTensor& from, int64_t at, int64_t step, uint64_t& number) {
  const auto last = static_cast<int64_t>(from.held()) - 1, width = static_cast<int64_t>(from.width());
  const char* first = from.bytes().data() + std::min(at, last) * width;
  if (at >= last || step == 0) return {first, 0};
  number = std::min(number, static_cast<uint64_t>((last - at) / step + 1));
  return {first, step * width};
}

void make_rows(const OperandPair& operands, uint64_t count, size_t width, char* to, const void* compute,
               OfPairs make) {
  const auto& [a, view_a, b, view_b] = operands;
  const Sizes& shape = view_a.shape;
  const size_t outer = shape.empty() ? 0 : shape.size() - 1;
  const int64_t length = shape.empty() ? 1 : shape[outer];
  const int64_t step_a = shape.empty() ? 0 : view_a.steps[outer];
  const int64_t step_b = shape.empty() ? 0 : view_b.steps[outer];
  Sizes place(outer, 0);
  int64_t at_a = 0, at_b = 0;
  for (uint64_t done = 0; done < count; done += static_cast<uint64_t>(length)) {
    for (int64_t i = 0; i < length;) {
      auto number = static_cast<uint64_t>(length - i);
      const ElementRow row_a = row_of(a, at_a + i * step_a, step_a, number);
      const ElementRow row_b = row_of(b, at_b + i * step_b, step_b, number);
      make(compute, row_a, row_b, number, to);
      to += number * width;
      i += static_cast<int64_t>(number);
    }
    for (size_t i = outer; i-- > 0;) {
      at_a += view_a.steps[i];
      at_b += view_b.steps[i];
      if (++place[i] < shape[i]) break;
      at_a -= view_a.steps[i] * shape[i];
      at_b -= view_b.steps[i] * shape[i];
      place[i] = 0;
    }
  }
}

}  // namespace

void give_of_elements(FoldTask& task, DType result, size_t width, const void* compute, OfElements make) {
  const ConstTensor& from = task.input(0);
  task.elements(from.shape(), result);
  std::string bytes = task.room(from.held(), width);
  bytes.resize(from.held() * width);
  make(compute, from.bytes().data(), from.held(), bytes.data());
  task.give(result, from.shape(), std::move(bytes));
}

void give_of_pairs(FoldTask& task, const OperandPair& operands, DType result, size_t width,
                   const void* compute, OfPairs make) {
  const Sizes& shape = operands.view_a.shape;
  const uint64_t count = task.elements(shape, result);
  if (count == 0) return task.give(result, shape, {});
  const ConstTensor &a = operands.a, &b = operands.b;
  if (a.is_splat() && b.is_splat()) {
    std::string bytes(width, '\0');
    make(compute, {a.bytes().data(), 0}, {b.bytes().data(), 0}, 1, bytes.data());
    return task.give(result, shape, std::move(bytes));
  }
  std::string bytes = task.room(count, width);
  bytes.resize(count * width);
  make_rows(operands, count, width, bytes.data(), compute, make);
  task.give(result, shape, std::move(bytes));
}

OperandPair broadcast_pair(const FoldTask& task) {
  const ConstTensor &a = task.input(0), &b = task.input(1);
  const Sizes shape = broadcast_shape(a.shape(), b.shape());
  return {a, broadcast_view(a.shape(), shape), b, broadcast_view(b.shape(), shape)};
}

}  // namespace gedit::folding
