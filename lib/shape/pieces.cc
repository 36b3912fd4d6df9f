// Rules of ops that take tensors apart along an axis, or put them together.
#include <algorithm>

#include "shape/rules.h"

namespace gedit::shaping {

void slice(Subject& node) {
  const Ranked known = node.shape(0), begin = node.value(1), size = node.value(2);
  const auto rank_of = [&](size_t input) {
    const Ranked form = node.shape(input);
    return form && form->size() == 1 && is_number(form->front()) &&
                   form->front() <= static_cast<Dim>(kMostRank)
               ? std::optional(static_cast<size_t>(form->front()))
               : std::nullopt;
  };
  const std::optional<size_t> rank = known        ? std::optional(known->size())
                                     : rank_of(1) ? rank_of(1)
                                                  : rank_of(2);
  node.agree_along(1, 2);
  if (!rank) return;
  node.of_size(1, static_cast<Dim>(*rank));
  node.of_size(2, static_cast<Dim>(*rank));
  Dims& dims = node.dims();
  DimList found = node.fresh_list(*rank);
  for (size_t i = 0; i < *rank; ++i) {
    const Dim wanted = size && i < size->size() ? (*size)[i] : kUnknown;
    const Dim from = begin && i < begin->size() ? (*begin)[i] : kUnknown;
    const Dim all = known ? (*known)[i] : kUnknown;
    if (dims.never_negative(wanted)) found[i] = wanted;
    if (wanted == -1) {
      const Dim left = dims.size(dims.subtract(all, from));
      if (left != kUnknown) found[i] = left;
      if (is_number(all) && is_number(from) && from > all)
        node.contradict("a slice at " + Subject::shown(from) + " of " + Subject::shown(all));
    }
    if (is_number(all) && is_number(from) && is_number(wanted) && (from < 0 || from + wanted > all))
      node.contradict("a slice of " + Subject::shown(wanted) + " at " + Subject::shown(from) + " of " +
                      Subject::shown(all));
  }
  node.give(0, found);
  const Ranked elements = node.value(0);
  if (elements && *rank == 1 && known && begin && begin->size() == 1 && is_number(begin->front()) &&
      is_number(found[0]) && begin->front() >= 0 &&
      begin->front() + found[0] <= static_cast<Dim>(elements->size())) {
    node.give_value(0, elements->subspan(static_cast<size_t>(begin->front()), static_cast<size_t>(found[0])));
  }
}

namespace {

// One axis of the tensor that a strided slice reads (tensorflow/core/util/strided_slice_op.cc).
struct AxisSlice {
  Dim begin = 0, end = 0, stride = 1;
  bool from_start = true, to_end = true;  // masked
  bool shrink = false;
};
struct SlicePlan {
  std::vector<AxisSlice> axes;             // of the input
  std::vector<std::optional<size_t>> out;  // the result's: an axis of the input, or a new one of size 1
};

std::optional<SlicePlan> slice_plan(Subject& node, size_t rank, size_t first) {
  const Ranked begin = node.value(first), end = node.value(first + 1), stride = node.value(first + 2);
  std::optional<size_t> count;
  for (size_t i = first; i < first + 3; ++i) {
    const Ranked size = node.shape(i);
    if (size && size->size() == 1 && is_number(size->front())) count = static_cast<size_t>(size->front());
  }
  if (!count || *count > 64) return std::nullopt;
  const auto mask = [&](std::string_view key) { return static_cast<uint64_t>(node.integer(key)); };
  const uint64_t begins = mask("begin_mask"), ends = mask("end_mask"), news = mask("new_axis_mask"),
                 shrinks = mask("shrink_axis_mask"), ellipses = mask("ellipsis_mask");
  size_t news_after = 0, ellipsis = *count;
  for (size_t i = 0; i < *count; ++i) {
    if (ellipses >> i & 1) ellipsis = i;
    if (ellipsis < i && (news >> i & 1) != 0) ++news_after;
  }
  SlicePlan plan;
  const auto at = [](Ranked values, size_t i) {
    return values && i < values->size() ? (*values)[i] : kUnknown;
  };
  const auto whole = [&](size_t until) {
    while (plan.axes.size() < until) {
      plan.out.emplace_back(plan.axes.size());
      plan.axes.emplace_back();
    }
  };
  for (size_t i = 0; i < *count; ++i) {
    if (i == ellipsis) {
      const size_t after = *count - i - 1 - news_after;
      if (rank >= after) whole(rank - after);
    } else if (news >> i & 1) {
      plan.out.emplace_back(std::nullopt);
    } else {
      if (plan.axes.size() >= rank) {
        node.contradict("a slice of " + std::to_string(*count) + " axes of a tensor of rank " +
                        std::to_string(rank));
        return std::nullopt;
      }
      const bool shrink = (shrinks >> i & 1) != 0;
      if (!shrink) plan.out.emplace_back(plan.axes.size());
      plan.axes.push_back(
          {at(begin, i), at(end, i), at(stride, i), (begins >> i & 1) != 0, (ends >> i & 1) != 0, shrink});
    }
  }
  if (ellipsis == *count) whole(rank);
  return plan.axes.size() == rank ? std::optional(std::move(plan)) : std::nullopt;
}

// How many elements of `size` it takes, and where it begins.
Dim taken(Subject& node, const AxisSlice& axis, Dim size, Dim& first) {
  Dims& dims = node.dims();
  first = kUnknown;
  if (axis.shrink) {
    first = axis.from_start ? 0 : axis.begin;
    if (is_number(first) && first < 0) first = dims.add(first, size);
    if (is_number(first) && is_number(size) && (first < 0 || first >= size))
      node.contradict("slice index " + Subject::shown(axis.begin) + " of " + Subject::shown(size));
    return 1;
  }
  if (!is_number(axis.stride) || axis.stride == 0) return kUnknown;
  const bool forward = axis.stride > 0;
  if (axis.from_start && axis.to_end) {
    if (forward)
      first = 0;
    else
      first = dims.subtract(size, 1);
    return dims.ceil_divide(size, forward ? axis.stride : -axis.stride);
  }
  const auto place = [&](Dim written) {  // from the front where it is counted from the back
    if (!is_number(written)) return written;
    return written < 0 ? dims.add(size, written) : written;
  };
  Dim begin = axis.from_start ? (forward ? 0 : dims.subtract(size, 1)) : place(axis.begin);
  Dim end = axis.to_end ? (forward ? size : -1) : place(axis.end);
  if (is_number(size) && is_number(begin) && is_number(end)) {
    const Dim least = forward ? 0 : -1, most = forward ? size : size - 1;
    begin = std::clamp(begin, least, most);
    end = std::clamp(end, least, most);
    first = begin;
    const Dim length = forward ? end - begin : begin - end;
    const Dim step = forward ? axis.stride : -axis.stride;
    return length <= 0 ? 0 : (length - 1) / step + 1;
  }
  if (is_symbol(size) && forward && begin == 0 && axis.stride == 1) {
    // x[:n] and x[:-n] of what nobody knows are not more than that.
    first = 0;
    if (!axis.to_end && axis.end == size) return size;
    return kUnknown;
  }
  if (is_number(size) && size == 0) return 0;
  return kUnknown;
}

}  // namespace

void strided_slice(Subject& node) {
  const Ranked known = node.shape(0);
  node.agree_along(1, 2);
  node.agree_along(1, 3);
  node.agree_along(2, 3);
  if (!known) return;
  const auto plan = slice_plan(node, known->size(), 1);
  if (!plan) return;
  DimList found;
  for (const auto& axis : plan->out) {
    Dim first = 0;
    const Dim size = axis ? taken(node, plan->axes[*axis], (*known)[*axis], first) : 1;
    found.push_back(size == kUnknown ? node.fresh(found.size()) : size);
  }
  Dim unused = 0;
  for (size_t i = 0; i < plan->axes.size(); ++i) {
    if (plan->axes[i].shrink) taken(node, plan->axes[i], (*known)[i], unused);
  }
  node.give(0, found);
  const Ranked elements = node.value(0);
  if (!elements || known->size() != 1) return;
  const AxisSlice& axis = plan->axes[0];
  Dim first = kUnknown;
  const Dim size = taken(node, axis, static_cast<Dim>(elements->size()), first);
  if (!is_number(size) || !is_number(first) || !node.contradiction.empty()) return;
  if (axis.shrink ? !found.empty() : found.size() != 1) return;
  DimList picked;
  for (Dim i = 0; i < size; ++i) {
    const Dim at = first + i * (axis.shrink ? 1 : axis.stride);
    if (at < 0 || at >= static_cast<Dim>(elements->size())) return;
    picked.push_back((*elements)[static_cast<size_t>(at)]);
  }
  node.give_value(0, picked, axis.shrink);
}

void strided_slice_grad(Subject& node) { node.give(0, node.shape_from(0)); }

void split(Subject& node) {
  const Ranked known = node.shape(1);
  const Dim axis = node.element(0);
  const auto parts = static_cast<Dim>(node.outputs.size());
  if (!known || parts == 0) return;
  DimList found = is_number(axis) ? DimList(known->begin(), known->end()) : node.fresh_list(known->size());
  if (is_number(axis)) {
    const auto at = node.axis(axis, found.size());
    if (!at) return;
    if (is_number(found[*at]) && found[*at] % parts != 0) {
      return node.contradict(Subject::shown(found[*at]) + " does not divide by " + std::to_string(parts));
    }
    found[*at] = node.dims().floor_divide(found[*at], parts);
    if (found[*at] == kUnknown) found[*at] = node.fresh(0);
  }
  const ListId shape = node.list(found);
  for (size_t i = 0; i < node.outputs.size(); ++i) node.give(i, shape);
  const Ranked elements = node.value(1);
  if (!elements || found.size() != 1 || elements->size() % node.outputs.size() != 0) return;
  const size_t each = elements->size() / node.outputs.size();
  for (size_t i = 0; i < node.outputs.size(); ++i) node.give_value(i, elements->subspan(i * each, each));
}

void split_v(Subject& node) {
  const Ranked known = node.shape(0), sizes = node.value(1);
  const Dim axis = node.element(2);
  if (!known || !node.at_least_rank(0, 1)) return;
  if (sizes) node.of_size(1, static_cast<Dim>(node.outputs.size()));
  if (!is_number(axis)) {
    for (size_t i = 0; i < node.outputs.size(); ++i) node.give(i, node.fresh_list(known->size(), i));
    return;
  }
  const auto at = node.axis(axis, known->size());
  if (!at) return;
  Dim rest = (*known)[*at];
  size_t open = 0;
  for (const Dim size : sizes.value_or(std::span<const Dim>())) {
    if (is_number(size) && size < -1) node.contradict("a part of " + Subject::shown(size));
    if (size == -1) ++open;
    if (size != -1) rest = node.dims().subtract(rest, size);
  }
  if (open > 1) node.contradict(std::to_string(open) + " parts of what is left");
  if (sizes && is_number(rest) && (open == 0 ? rest != 0 : rest < 0))
    node.contradict("parts " + node.shown(*sizes) + " of " + Subject::shown((*known)[*at]));
  const Ranked value = known->size() == 1 ? node.value(0) : Ranked();
  bool placed = value.has_value();  // it is known where the next part begins
  std::span<const Dim> left;        // of the value
  if (value) left = *value;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    DimList found(known->begin(), known->end());
    Dim size = sizes && i < sizes->size() ? (*sizes)[i] : kUnknown;
    if (size == -1) size = node.dims().size(rest);
    found[*at] = node.dims().never_negative(size) ? size : node.fresh(i);
    node.give(i, found);
    placed = placed && is_number(size) && size >= 0 && static_cast<size_t>(size) <= left.size();
    if (!placed) continue;
    node.give_value(i, left.first(static_cast<size_t>(size)));
    left = left.subspan(static_cast<size_t>(size));
  }
}

namespace {

void concatenate(Subject& node, size_t first, size_t count, Dim axis) {
  if (count == 0) return;
  std::optional<size_t> rank;
  for (size_t i = first; i < first + count; ++i) {
    const Ranked known = node.shape(i);
    if (!known || known->empty()) {
      if (known) return node.contradict("a scalar among what is joined");
      continue;
    }
    if (rank && *rank != known->size()) {
      return node.contradict("ranks " + std::to_string(*rank) + " and " + std::to_string(known->size()) +
                             " do not agree");
    }
    rank = known->size();
  }
  if (!rank) return;
  if (!is_number(axis)) return node.give(0, node.fresh_list(*rank));
  const auto at = node.axis(axis, *rank);
  if (!at) return;
  DimList found(*rank, kUnknown);
  Dim sum = 0;
  for (size_t i = first; i < first + count; ++i) {
    const Ranked known = node.shape(i);
    sum = node.dims().add(sum, known ? (*known)[*at] : kUnknown);
    for (size_t k = 0; known && k < *rank; ++k) {
      if (k != *at) found[k] = node.agree(found[k], (*known)[k]);
    }
  }
  found[*at] = sum;
  for (size_t k = 0; k < *rank; ++k) {
    if (found[k] == kUnknown) found[k] = node.fresh(k);
  }
  node.give(0, found);
  if (*rank != 1) return;
  DimList elements;
  for (size_t i = first; i < first + count; ++i) {
    const Ranked more = node.value(i), size = node.shape(i);
    if (more) {
      elements.insert(elements.end(), more->begin(), more->end());
    } else if (size && is_number(size->front()) && size->front() <= static_cast<Dim>(kMostElements)) {
      elements.insert(elements.end(), static_cast<size_t>(size->front()), kUnknown);
    } else {
      return;
    }
    if (elements.size() > kMostElements) return;
  }
  node.give_value(0, elements);
}

}  // namespace

void concat(Subject& node) {
  if (node.count() > 1) concatenate(node, 1, node.count() - 1, node.element(0));
}
void concat_v2(Subject& node) {
  if (node.count() > 1) concatenate(node, 0, node.count() - 1, node.element(node.count() - 1));
}

void concat_offset(Subject& node) {
  const Dim axis = node.element(0);
  for (size_t i = 1; i < node.count(); ++i) node.give(i - 1, node.shape_id(i));
  if (!is_number(axis)) return;
  Dim offset = 0;
  for (size_t i = 1; i < node.count(); ++i) {
    const Ranked sizes = node.value(i);
    if (!sizes) return;
    const auto at = node.axis(axis, sizes->size());
    if (!at) return;
    DimList found(sizes->size(), 0);
    found[*at] = offset;
    node.give_value(i - 1, found);
    offset = node.dims().add(offset, (*sizes)[*at]);
  }
}

void pack(Subject& node) {
  ListId all = kNoRank;
  for (size_t i = 0; i < node.count(); ++i) all = node.agree(all, node.shape_id(i));
  const Ranked known = node.ranked(all);
  if (!known) return;
  const auto at = node.axis(node.integer("axis"), known->size() + 1);
  if (!at) return;
  DimList found(known->begin(), known->end());
  found.insert(found.begin() + static_cast<std::ptrdiff_t>(*at), static_cast<Dim>(node.count()));
  node.give(0, found);
  if (known->size() > 1 || *at != 0 || node.count() > kMostElements) return;
  const DType type = node.type("T");
  if (type != DType::kInt32 && type != DType::kInt64) return;
  const size_t each = known->empty()              ? 1
                      : is_number(known->front()) ? static_cast<size_t>(known->front())
                                                  : 0;
  if (each == 0 || each > kMostElements || each * node.count() > kMostElements) return;
  DimList elements;
  for (size_t i = 0; i < node.count(); ++i) {
    const Ranked more = node.value(i);
    if (more && more->size() == each) {
      elements.insert(elements.end(), more->begin(), more->end());
    } else {
      elements.insert(elements.end(), each, kUnknown);
    }
  }
  if (known->empty()) return node.give_value(0, elements);
  // Rows, as the paddings of Pad are.
  if (std::ranges::any_of(elements, [](Dim dim) { return dim != kUnknown; }))
    node.give(0, valued(node.outputs[0].shape, node.list(elements)));
}

void unpack(Subject& node) {
  const Ranked known = node.shape(0);
  if (!known || !node.at_least_rank(0, 1)) return;
  const auto at = node.axis(node.integer("axis"), known->size());
  if (!at) return;
  const Dim size = (*known)[*at];
  if (is_number(size) && size != static_cast<Dim>(node.outputs.size())) {
    node.contradict(Subject::shown(size) + " unpacked into " + std::to_string(node.outputs.size()));
  }
  DimList found(known->begin(), known->end());
  found.erase(found.begin() + static_cast<std::ptrdiff_t>(*at));
  const ListId shape = node.list(found);
  const Ranked elements = node.value(0);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    node.give(i, shape);
    if (elements && known->size() == 1 && i < elements->size()) node.give_element(i, (*elements)[i]);
  }
}

}  // namespace gedit::shaping
