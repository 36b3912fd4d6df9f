#include "fold/rule.h"

#include <algorithm>
#include <cstring>

namespace gedit::folding {
namespace {

// A result of more bytes, held or not, is left to be computed: nobody wants it in memory all the time.
constexpr uint64_t kMostBytesOfResult = uint64_t{64} << 20;

uint64_t bytes_of(const ConstTensor& value) {
  return value.count() * (value.dtype() == DType::kString ? sizeof(std::string_view) : value.width());
}

// Dimensions of one element left out, those that are gone through in one stride put together.
StridedView joined(const StridedView& view) {
  StridedView out;
  out.offset = view.offset;
  for (size_t i = 0; i < view.shape.size(); ++i) {
    if (view.shape[i] == 1) continue;
    if (!out.shape.empty() && out.steps.back() == view.steps[i] * view.shape[i]) {
      out.shape.back() *= view.shape[i];
      out.steps.back() = view.steps[i];
      continue;
    }
    out.shape.push_back(view.shape[i]);
    out.steps.push_back(view.steps[i]);
  }
  return out;
}

template <size_t width>
void copy_strided(char* to, const ConstTensor& source, int64_t at, int64_t step, int64_t number) {
  const char* from = source.bytes().data();
  const auto last = static_cast<int64_t>(source.held()) - 1;
  for (int64_t i = 0; i < number; ++i, at += step, to += width)
    std::memcpy(to, from + static_cast<size_t>(std::min(at, last)) * width, width);
}

void copy_row(char* to, const ConstTensor& source, int64_t at, int64_t step, int64_t number) {
  switch (source.width()) {
    case 1:
      return copy_strided<1>(to, source, at, step, number);
    case 2:
      return copy_strided<2>(to, source, at, step, number);
    case 4:
      return copy_strided<4>(to, source, at, step, number);
    case 8:
      return copy_strided<8>(to, source, at, step, number);
    default:
      return copy_strided<16>(to, source, at, step, number);
  }
}

// Calls use(position of the first, step, number) for each row of a view that has elements.
template <typename Use>
void each_row(const StridedView& view, Use use) {
  if (view.shape.empty()) return use(view.offset, int64_t{0}, int64_t{1});
  const size_t outer = view.shape.size() - 1;
  Sizes place(outer, 0);
  int64_t at = view.offset;
  while (true) {
    use(at, view.steps[outer], view.shape[outer]);
    size_t i = outer;
    for (; i-- > 0;) {
      at += view.steps[i];
      if (++place[i] < view.shape[i]) break;
      at -= view.steps[i] * view.shape[i];
      place[i] = 0;
    }
    if (i == SIZE_MAX) return;
  }
}

}  // namespace

FoldTask::FoldTask(std::string_view node_def, std::span<const ConstTensor> values, uint64_t most_bytes)
    : inputs(values), left_(most_bytes) {
  each_attr(node_def, [&](std::string_view key, std::string_view value) { attrs_.emplace_back(key, value); });
  for (const ConstTensor& value : inputs) largest_input_ = std::max(largest_input_, bytes_of(value));
}

std::optional<std::string_view> FoldTask::attr(std::string_view key) const {
  std::optional<std::string_view> found;
  for (const auto& [name, value] : attrs_) {
    if (name == key) found = value;
  }
  return found;
}

int64_t FoldTask::integer(std::string_view key, int64_t otherwise) const {
  const auto value = attr(key);
  return value ? static_cast<int64_t>(last_varint(*value, attr_field::kInt)) : otherwise;
}

bool FoldTask::flag(std::string_view key, bool otherwise) const {
  const auto value = attr(key);
  return value ? last_varint(*value, attr_field::kBool) != 0 : otherwise;
}

std::string_view FoldTask::text(std::string_view key, std::string_view otherwise) const {
  const auto value = attr(key);
  return value ? last_bytes(*value, attr_field::kString) : otherwise;
}

Sizes FoldTask::integers(std::string_view key) const {
  const auto value = attr(key);
  return value ? int_list(*value) : Sizes();
}

DType FoldTask::type(std::string_view key, DType otherwise) const {
  const auto value = attr(key);
  if (!value) return otherwise;
  return static_cast<DType>(static_cast<int32_t>(last_varint(*value, attr_field::kType)));
}

const ConstTensor& FoldTask::input(size_t i) const {
  require(i < inputs.size(), "an input is missing");
  return inputs[i];
}

Sizes FoldTask::values(size_t i) const {
  constexpr uint64_t kMostValues = uint64_t{1} << 20;
  const ConstTensor& value = input(i);
  require(value.rank() <= 1, "an input should be a vector");
  require(value.count() <= kMostValues, "an input is very long");
  Sizes found;
  for (uint64_t k = 0; k < value.count(); ++k) {
    switch (value.dtype()) {
      case DType::kInt16:
        found.push_back(value.as<int16_t>(k));
        break;
      case DType::kInt32:
        found.push_back(value.as<int32_t>(k));
        break;
      case DType::kInt64:
        found.push_back(value.as<int64_t>(k));
        break;
      default:
        throw NotFolded{"an input should be integers"};
    }
  }
  return found;
}

int64_t FoldTask::scalar(size_t i) const {
  require(input(i).count() == 1, "an input should be a scalar");
  return values(i)[0];
}

size_t FoldTask::axis(int64_t axis, size_t rank) {
  const auto dimensions = static_cast<int64_t>(rank);
  require(axis >= -dimensions && axis < dimensions, "an axis is out of range");
  return static_cast<size_t>(axis < 0 ? axis + dimensions : axis);
}

uint64_t FoldTask::elements(const Sizes& shape, DType dtype) const {
  const std::optional<uint64_t> count = elements_of(shape);
  require(count.has_value(), "a result would have no shape");
  const size_t width = dtype == DType::kString ? sizeof(std::string_view) : dtype_width(dtype);
  require(*count <= std::max(kMostBytesOfResult, largest_input_) / width, "a result would be enormous");
  require(shape.size() <= 32, "a result would have too many dimensions");
  return *count;
}

std::string FoldTask::room(uint64_t elements, size_t width) {
  const uint64_t bytes = elements * width;  // both were looked at by elements()
  require(bytes <= left_, "the result is too large");
  left_ -= bytes;
  work_ += bytes;
  std::string bytes_of_result;
  bytes_of_result.reserve(bytes);
  return bytes_of_result;
}

Assembler::Assembler(FoldTask& task, DType dtype, Sizes shape) : dtype_(dtype), shape_(std::move(shape)) {
  const uint64_t count = task.elements(shape_, dtype);
  if (dtype != DType::kString) {
    bytes_ = task.room(count, dtype_width(dtype));
    return;
  }
  task.room(count, sizeof(std::string_view));
  strings_ = std::make_shared<ConstTensor::Strings>();
  owners_ = std::make_shared<std::vector<std::shared_ptr<const void>>>();
  for (const ConstTensor& input : task.inputs) {
    if (input.owner() != nullptr) owners_->push_back(input.owner());
  }
}

void Assembler::append(const ConstTensor& from, uint64_t start, uint64_t number) {
  if (strings_ != nullptr) {
    for (uint64_t i = start; i < start + number; ++i) strings_->push_back(from.element(i));
    return;
  }
  const uint64_t there = start < from.held() ? std::min(number, from.held() - start) : 0;
  bytes_ += from.bytes().substr(std::min(start, from.held()) * from.width(), there * from.width());
  for (uint64_t i = there; i < number; ++i) bytes_ += from.element(start + i);
}

ConstTensor Assembler::take() {
  if (strings_ != nullptr) return ConstTensor(std::move(shape_), std::move(strings_), std::move(owners_));
  return ConstTensor::owning(dtype_, std::move(shape_), std::move(bytes_));
}

Sizes steps_of(const Sizes& shape) {
  Sizes steps(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) steps[i - 1] = steps[i] * std::max<int64_t>(shape[i], 1);
  return steps;
}

ConstTensor viewed(FoldTask& task, const ConstTensor& source, const StridedView& view, Sizes shape) {
  const uint64_t count = task.elements(shape, source.dtype());
  if (count == 0) {
    if (source.dtype() == DType::kString)
      return ConstTensor(std::move(shape), std::make_shared<const ConstTensor::Strings>(), nullptr);
    return ConstTensor(source.dtype(), std::move(shape), {}, nullptr);
  }
  const StridedView rows = joined(view);
  const bool in_a_row = rows.shape.empty() || (rows.shape.size() == 1 && rows.steps[0] == 1);
  if (source.is_splat() || (in_a_row && rows.offset == 0 && count == source.count()))
    return source.reshaped(std::move(shape));
  if (in_a_row && source.strings() == nullptr) {
    const uint64_t first = std::min<uint64_t>(static_cast<uint64_t>(rows.offset), source.held() - 1);
    const uint64_t held = std::min(count, source.held() - first);
    return ConstTensor(source.dtype(), std::move(shape),
                       source.bytes().substr(first * source.width(), held * source.width()), source.owner());
  }
  if (source.strings() != nullptr) {
    Assembler assembler(task, source.dtype(), std::move(shape));
    each_row(rows, [&](int64_t at, int64_t step, int64_t number) {
      for (int64_t i = 0; i < number; ++i) assembler.append(source, static_cast<uint64_t>(at + i * step), 1);
    });
    return assembler.take();
  }
  std::string bytes = task.room(count, source.width());
  bytes.resize(count * source.width());
  char* to = bytes.data();
  each_row(rows, [&](int64_t at, int64_t step, int64_t number) {
    copy_row(to, source, at, step, number);
    to += static_cast<size_t>(number) * source.width();
  });
  return ConstTensor::owning(source.dtype(), std::move(shape), std::move(bytes));
}

StridedView broadcast_view(const Sizes& from, const Sizes& to) {
  StridedView view{to, Sizes(to.size(), 0), 0};
  const Sizes steps = steps_of(from);
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1) view.steps[to.size() - from.size() + i] = steps[i];
  }
  return view;
}

Sizes broadcast_shape(const Sizes& a, const Sizes& b) {
  Sizes shape = a.size() >= b.size() ? a : b;
  const Sizes& shorter = a.size() >= b.size() ? b : a;
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& size = shape[shape.size() - shorter.size() + i];
    if (size == 1) size = shorter[i];
    FoldTask::require(shorter[i] == size || shorter[i] == 1, "shapes do not agree");
  }
  return shape;
}

}  // namespace gedit::folding
