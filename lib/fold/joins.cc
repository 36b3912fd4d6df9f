// Elements of several tensors, or from several places of one, put together.
#include <algorithm>
#include <array>

#include "fold/rules.h"

namespace gedit::folding {
namespace {

uint64_t product(const Sizes& shape, size_t begin, size_t end) {
  uint64_t count = 1;
  for (size_t i = begin; i < end; ++i) count *= static_cast<uint64_t>(shape[i]);
  return count;
}

// Puts tensors one behind the other: for each of `outer`, of each tensor a stretch.
ConstTensor interleaved(FoldTask& task, std::span<const ConstTensor> parts, Sizes shape, uint64_t outer) {
  Assembler all(task, parts[0].dtype(), std::move(shape));
  std::vector<const ConstTensor*> filled;  // empty ones would be gone over again and again
  for (const ConstTensor& part : parts) {
    if (part.count() > 0) filled.push_back(&part);
  }
  for (uint64_t i = 0; i < outer; ++i) {
    for (const ConstTensor* part : filled) {
      const uint64_t stretch = part->count() / outer;
      all.append(*part, i * stretch, stretch);
    }
  }
  return all.take();
}

void concat(FoldTask& task, std::span<const ConstTensor> parts, int64_t written) {
  FoldTask::require(!parts.empty() && parts[0].rank() > 0, "a scalar among what is joined");
  const size_t axis = FoldTask::axis(written, parts[0].rank());
  Sizes shape = parts[0].shape();
  shape[axis] = 0;
  for (const ConstTensor& part : parts) {
    FoldTask::require(part.rank() == shape.size() && part.dtype() == parts[0].dtype(), "shapes do not agree");
    for (size_t i = 0; i < shape.size(); ++i)
      FoldTask::require(i == axis || part.shape()[i] == shape[i], "shapes do not agree");
    FoldTask::require(!__builtin_add_overflow(shape[axis], part.shape()[axis], &shape[axis]),
                      "a result would be enormous");
  }
  const uint64_t outer = task.elements(shape, parts[0].dtype()) == 0 ? 0 : product(shape, 0, axis);
  task.give(interleaved(task, parts, shape, outer));
}

// Elements of `from` at `axis` by their indices, in each of its first `batches` dimensions those of the same
// place.
void gather(FoldTask& task, int64_t written_axis, int64_t written_batches) {
  const ConstTensor &from = task.input(0), &indices = task.input(1);
  const auto rank = static_cast<int64_t>(indices.rank());
  const int64_t batch_dims = written_batches < 0 ? written_batches + rank : written_batches;
  const size_t axis = FoldTask::axis(written_axis, from.rank());
  FoldTask::require(
      batch_dims >= 0 && (batch_dims == 0 || batch_dims < rank) && batch_dims <= static_cast<int64_t>(axis),
      "batch_dims is out of range");
  const auto batch = static_cast<size_t>(batch_dims);
  for (size_t i = 0; i < batch; ++i)
    FoldTask::require(from.shape()[i] == indices.shape()[i], "shapes do not agree");
  Sizes shape(from.shape().begin(), from.shape().begin() + static_cast<ptrdiff_t>(axis));
  shape.insert(shape.end(), indices.shape().begin() + batch_dims, indices.shape().end());
  shape.insert(shape.end(), from.shape().begin() + static_cast<ptrdiff_t>(axis) + 1, from.shape().end());
  task.elements(shape, from.dtype());
  FoldTask::require(task.elements(indices.shape(), indices.dtype()) <= (uint64_t{1} << 20),
                    "an input is very long");
  const Sizes at = flat_values(task, 1);
  const auto size = from.shape()[axis];
  for (const int64_t index : at) FoldTask::require(index >= 0 && index < size, "an index is out of range");
  const uint64_t batches = product(from.shape(), 0, batch), outer = product(from.shape(), batch, axis),
                 inner = product(from.shape(), axis + 1, from.rank()),
                 each = product(indices.shape(), batch, indices.rank());
  Assembler all(task, from.dtype(), shape);
  if (inner > 0 && each > 0) {
    for (uint64_t b = 0; b < batches; ++b) {
      for (uint64_t o = 0; o < outer; ++o) {
        for (uint64_t i = 0; i < each; ++i) {
          const uint64_t row =
              (b * outer + o) * static_cast<uint64_t>(size) + static_cast<uint64_t>(at[b * each + i]);
          all.append(from, row * inner, inner);
        }
      }
    }
  }
  task.give(all.take());
}

// How much stands before and behind each dimension.
std::vector<std::pair<int64_t, int64_t>> paddings(FoldTask& task) {
  const ConstTensor &value = task.input(0), &pads = task.input(1);
  FoldTask::require(value.dtype() != DType::kString, "not of this dtype");
  FoldTask::require(pads.shape() == Sizes{static_cast<int64_t>(value.rank()), 2},
                    "not two numbers for each dimension");
  const Sizes flat = flat_values(task, 1);
  std::vector<std::pair<int64_t, int64_t>> found;
  for (size_t i = 0; i < value.rank(); ++i) {
    FoldTask::require(flat[2 * i] >= 0 && flat[2 * i + 1] >= 0, "a size is negative");
    found.emplace_back(flat[2 * i], flat[2 * i + 1]);
  }
  return found;
}

Sizes padded_shape(FoldTask& task, const std::vector<std::pair<int64_t, int64_t>>& pads) {
  Sizes shape = task.input(0).shape();
  for (size_t i = 0; i < shape.size(); ++i) {
    FoldTask::require(!__builtin_add_overflow(shape[i], pads[i].first, &shape[i]) &&
                          !__builtin_add_overflow(shape[i], pads[i].second, &shape[i]),
                      "a result would be enormous");
  }
  task.elements(shape, task.input(0).dtype());
  return shape;
}

// Calls use(place, number) for every row of a shape that has elements: the place of its first one.
template <typename Use>
void each_place_of_rows(const Sizes& shape, Use use) {
  Sizes place(shape.size(), 0);
  while (true) {
    use(place);
    size_t i = shape.size() - 1;
    for (; i-- > 0;) {
      if (++place[i] < shape[i]) break;
      place[i] = 0;
    }
    if (i == SIZE_MAX) return;
  }
}

void select_rows(FoldTask& task, uint64_t stretch) {
  const ConstTensor& condition = task.input(0);
  Assembler all(task, task.input(1).dtype(), task.input(1).shape());
  const uint64_t rows = stretch == 0 ? 0 : task.input(1).count() / stretch;
  for (uint64_t i = 0; i < rows; ++i)
    all.append(task.input(condition.as<uint8_t>(i) != 0 ? 1 : 2), i * stretch, stretch);
  task.give(all.take());
}

}  // namespace

Sizes flat_values(const FoldTask& task, size_t i) {
  const ConstTensor& value = task.input(i);
  FoldTask::require(value.count() <= (uint64_t{1} << 20), "an input is very long");
  const std::vector<ConstTensor> flat{value.reshaped({static_cast<int64_t>(value.count())})};
  return FoldTask({}, flat, 0).values(0);
}

void fold_concat(FoldTask& task) { concat(task, task.inputs.subspan(1), task.scalar(0)); }
void fold_concat_v2(FoldTask& task) {
  FoldTask::require(task.inputs.size() >= 2, "an input is missing");
  concat(task, task.inputs.first(task.inputs.size() - 1), task.scalar(task.inputs.size() - 1));
}

void fold_pack(FoldTask& task) {
  Sizes shape = task.input(0).shape();
  for (const ConstTensor& input : task.inputs)
    FoldTask::require(input.shape() == shape, "shapes do not agree");
  const size_t axis = FoldTask::axis(task.integer("axis", 0), shape.size() + 1);
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(axis), static_cast<int64_t>(task.inputs.size()));
  const uint64_t outer = task.elements(shape, task.input(0).dtype()) == 0 ? 0 : product(shape, 0, axis);
  task.give(interleaved(task, task.inputs, shape, outer));
}

void fold_pad(FoldTask& task) {
  const ConstTensor& value = task.input(0);
  const auto pads = paddings(task);
  const Sizes shape = padded_shape(task, pads);
  ConstTensor filling = ConstTensor::owning(value.dtype(), {}, std::string(value.width(), '\0'));
  if (task.inputs.size() > 2) filling = task.input(2);
  FoldTask::require(filling.count() == 1 && filling.dtype() == value.dtype(), "what fills is no scalar");
  if (value.rank() == 0) return task.give(value);
  Assembler all(task, value.dtype(), shape);
  const Sizes steps = steps_of(value.shape());
  const auto filler = filling.reshaped({1});
  if (elements_of(shape).value_or(0) > 0) {
    const auto before = static_cast<uint64_t>(pads.back().first);
    const auto behind = static_cast<uint64_t>(pads.back().second);
    each_place_of_rows(shape, [&](const Sizes& place) {
      int64_t at = 0;
      bool inside = true;
      for (size_t i = 0; i + 1 < place.size(); ++i) {
        const int64_t from = place[i] - pads[i].first;
        inside = inside && from >= 0 && from < value.shape()[i];
        at += from * steps[i];
      }
      if (!inside) return all.append(filler, 1, static_cast<uint64_t>(shape.back()));
      all.append(filler, 1, before);
      all.append(value, static_cast<uint64_t>(at), static_cast<uint64_t>(value.shape().back()));
      all.append(filler, 1, behind);
    });
  }
  task.give(all.take());
}

void fold_mirror_pad(FoldTask& task) {
  const ConstTensor& value = task.input(0);
  const std::string_view mode = task.text("mode", {});
  FoldTask::require(mode == "REFLECT" || mode == "SYMMETRIC", "an unknown mode");
  const int64_t edge = mode == "REFLECT" ? 1 : 0;  // the element at the edge is not repeated
  const auto pads = paddings(task);
  for (size_t i = 0; i < pads.size(); ++i) {
    FoldTask::require(std::max(pads[i].first, pads[i].second) <= value.shape()[i] - edge,
                      "more than what is mirrored");
  }
  if (value.rank() == 0) return task.give(value);
  const Sizes shape = padded_shape(task, pads), steps = steps_of(value.shape());
  const auto source = [&](size_t i, int64_t place) {
    const int64_t at = place - pads[i].first, size = value.shape()[i];
    return (at < 0 ? -at - 1 + edge : at >= size ? 2 * size - 1 - edge - at : at) * steps[i];
  };
  Assembler all(task, value.dtype(), shape);
  if (elements_of(shape).value_or(0) > 0) {
    each_place_of_rows(shape, [&](const Sizes& place) {
      int64_t at = 0;
      for (size_t i = 0; i + 1 < place.size(); ++i) at += source(i, place[i]);
      for (int64_t k = 0; k < shape.back(); ++k)
        all.append(value, static_cast<uint64_t>(at + source(shape.size() - 1, k)), 1);
    });
  }
  task.give(all.take());
}

void fold_gather(FoldTask& task) { gather(task, 0, 0); }
void fold_gather_v2(FoldTask& task) { gather(task, task.scalar(2), task.integer("batch_dims", 0)); }

void fold_gather_nd(FoldTask& task) {
  const ConstTensor &from = task.input(0), &indices = task.input(1);
  FoldTask::require(indices.rank() >= 1 && from.rank() >= 1, "indices without a dimension");
  const auto depth = static_cast<size_t>(indices.shape().back());
  FoldTask::require(depth >= 1 && depth <= from.rank() && from.count() > 0, "indices of another depth");
  Sizes shape(indices.shape().begin(), indices.shape().end() - 1);
  shape.insert(shape.end(), from.shape().begin() + static_cast<ptrdiff_t>(depth), from.shape().end());
  const Sizes at = flat_values(task, 1), steps = steps_of(from.shape());
  const uint64_t inner = product(from.shape(), depth, from.rank());
  Assembler all(task, from.dtype(), shape);
  for (size_t i = 0; i < at.size(); i += depth) {
    int64_t place = 0;
    for (size_t k = 0; k < depth; ++k) {
      FoldTask::require(at[i + k] >= 0 && at[i + k] < from.shape()[k], "an index is out of range");
      place += at[i + k] * steps[k];
    }
    all.append(from, static_cast<uint64_t>(place), inner);
  }
  task.give(all.take());
}

// The condition is of the same shape, a scalar, or a vector for the rows.
void fold_select(FoldTask& task) {
  const ConstTensor &condition = task.input(0), &then = task.input(1);
  FoldTask::require(then.shape() == task.input(2).shape(), "shapes do not agree");
  if (condition.rank() == 0) return task.give(task.input(condition.as<uint8_t>(0) != 0 ? 1 : 2));
  if (condition.shape() == then.shape()) return select_rows(task, 1);
  FoldTask::require(condition.rank() == 1 && then.rank() > 1 && condition.shape()[0] == then.shape()[0],
                    "shapes do not agree");
  select_rows(task, product(then.shape(), 1, then.rank()));
}

void fold_select_v2(FoldTask& task) {
  const ConstTensor &condition = task.input(0), &then = task.input(1), &otherwise = task.input(2);
  const Sizes shape = broadcast_shape(broadcast_shape(condition.shape(), then.shape()), otherwise.shape());
  const uint64_t count = task.elements(shape, then.dtype());
  Assembler all(task, then.dtype(), shape);
  const std::array<StridedView, 3> views{broadcast_view(condition.shape(), shape),
                                         broadcast_view(then.shape(), shape),
                                         broadcast_view(otherwise.shape(), shape)};
  Sizes place(shape.size(), 0);
  std::array<int64_t, 3> at{};
  for (uint64_t done = 0; done < count; ++done) {
    const size_t chosen = condition.as<uint8_t>(static_cast<uint64_t>(at[0])) != 0 ? 1 : 2;
    all.append(task.input(chosen), static_cast<uint64_t>(at[chosen]), 1);
    for (size_t i = shape.size(); i-- > 0;) {
      const bool wraps = ++place[i] == shape[i];
      for (size_t k = 0; k < at.size(); ++k)
        at[k] += wraps ? views[k].steps[i] * (1 - shape[i]) : views[k].steps[i];
      if (!wraps) break;
      place[i] = 0;
    }
  }
  task.give(all.take());
}

}  // namespace gedit::folding
