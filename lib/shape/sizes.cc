// Rules of ops that ask for shapes, or make tensors of a shape that is asked for.
#include <algorithm>

#include "base/packed.h"
#include "shape/rules.h"

namespace gedit::shaping {
namespace {

constexpr uint32_t kDtype = 1, kShape = 2, kContent = 4, kInts = 7, kInt64s = 10;

// The elements of a TensorProto of integers; those that are not written are the last one again.
DimList elements_of(std::string_view tensor, DType type, size_t count) {
  DimList found;
  const size_t width = type == DType::kInt32 ? 4 : 8;
  const std::string_view content = last_bytes(tensor, kContent);
  if (content.size() >= count * width && !content.empty()) {
    for (size_t i = 0; i < count; ++i) {
      const uint64_t number = little_endian(content.substr(i * width, width));
      found.push_back(width == 4 ? static_cast<int32_t>(number) : static_cast<int64_t>(number));
    }
    return found;
  }
  for (Fields fields(tensor); fields.next();) {
    if (fields->number != (type == DType::kInt32 ? kInts : kInt64s)) continue;
    each_varint(fields.field(), [&](uint64_t number) {
      if (found.size() < count)
        found.push_back(type == DType::kInt32 ? static_cast<int32_t>(number) : static_cast<int64_t>(number));
    });
  }
  found.resize(count, found.empty() ? 0 : found.back());
  return found;
}

void shape_of_fact(Subject& node, size_t output, ListId id) {
  const Ranked known = node.ranked(id);
  if (!known) return node.give(output, {node.fresh(output)});
  node.give_value(output, *known);
}

Dim elements_in(Subject& node, std::span<const Dim> shape) {
  Dim product = 1;
  for (const Dim dim : shape) product = node.dims().multiply(product, dim);
  return product;
}

}  // namespace

void constant(Subject& node) {
  const auto value = node.attr("value");
  if (!value) return;
  const std::string_view tensor = last_bytes(*value, attr_field::kTensor);
  const ListId shape = node.shape_of(last_bytes(tensor, kShape));
  node.give(0, shape);
  const auto type = static_cast<DType>(last_varint(tensor, kDtype));
  if (shape == kNoRank || (type != DType::kInt32 && type != DType::kInt64)) return;
  const Ranked known = node.ranked(shape);
  const Dim count = elements_in(node, *known);
  // Matrices are the paddings of Pad and the crops of BatchToSpaceND.
  if (known->size() > 2 || !is_number(count) || count > static_cast<Dim>(kMostElements)) return;
  DimList elements = elements_of(tensor, type, static_cast<size_t>(count));
  for (Dim& element : elements) element = is_number(element) ? element : kUnknown;
  node.give(0, valued(shape, node.list(elements)));
}

void shape(Subject& node) {
  for (size_t i = 0; i < node.outputs.size(); ++i) shape_of_fact(node, i, node.shape_id(i));
}

void variable_shape(Subject& node) {
  const Fact handle = node.fact(0);
  shape_of_fact(node, 0, handle.has_handle() ? handle.list() : kNoRank);
}

void size(Subject& node) {
  const Ranked known = node.shape(0);
  node.give(0, kScalar);
  if (known) node.give_element(0, elements_in(node, *known));
}

void rank(Subject& node) {
  const Ranked known = node.shape(0);
  node.give(0, kScalar);
  if (known) node.give_element(0, static_cast<Dim>(known->size()));
}

void fill(Subject& node) {
  node.give(0, node.shape_from(0));
  const Ranked shape = node.ranked(node.outputs.empty() ? kNoRank : node.outputs[0].shape);
  const Dim element = node.element(1);
  if (!shape || shape->size() > 1 || element == kUnknown) return;
  if (shape->empty()) return node.give_element(0, element);
  if (is_number(shape->front()) && shape->front() <= static_cast<Dim>(kMostElements))
    node.give_value(0, DimList(static_cast<size_t>(shape->front()), element));
}

void range(Subject& node) {
  const Dim start = node.element(0), limit = node.element(1), step = node.element(2);
  node.give(0, {node.fresh(0)});
  Dims& dims = node.dims();
  if (step == 0) return node.contradict("a range in steps of 0");
  if (is_number(start) && is_number(limit) && is_number(step)) {
    const Dim way = step > 0 ? dims.subtract(limit, start) : dims.subtract(start, limit);
    const Dim count =
        is_number(way) ? std::max<Dim>(0, dims.ceil_divide(way, step > 0 ? step : -step)) : kUnknown;
    if (count == kUnknown) return;
    node.give(0, {count});
    if (count > static_cast<Dim>(kMostElements)) return;
    DimList elements;
    for (Dim i = 0; i < count; ++i) elements.push_back(dims.add(start, dims.multiply(i, step)));
    return node.give_value(0, elements);
  }
  if (start == 0 && step == 1 && dims.never_negative(limit)) node.give(0, {limit});
}

void lin_space(Subject& node) {
  const Dim count = node.element(2);
  node.give(0, {node.dims().never_negative(count) ? count : node.fresh(0)});
}

void random(Subject& node) { node.give(0, node.shape_from(0)); }

void multinomial(Subject& node) {
  const auto logits = node.of_rank(0, 2);
  const Dim samples = node.element(1);
  if (logits) node.give(0, {logits->front(), node.dims().never_negative(samples) ? samples : node.fresh(0)});
}

void broadcast_args(Subject& node) {
  const Ranked a = node.value(0), b = node.value(1);
  const Ranked x = node.shape(0), y = node.shape(1);
  if (a && b) {
    const auto both = broadcast_shapes(node, *a, *b);
    if (both) return node.give_value(0, *both);
  }
  if (x && y && x->size() == 1 && y->size() == 1 && is_number(x->front()) && is_number(y->front()))
    return node.give(0, {std::max(x->front(), y->front())});
  node.give(0, {node.fresh(0)});
}

// The axes over which a gradient is summed; which they are depends on sizes that are 1 or not.
void broadcast_gradient_args(Subject& node) {
  const Ranked a = node.value(0), b = node.value(1);
  node.give(0, {node.fresh(0)});
  node.give(1, {node.fresh(1)});
  if (!a || !b) return;
  const size_t rank = std::max(a->size(), b->size());
  DimList over_a, over_b;
  for (size_t i = 0; i < rank; ++i) {
    const auto at = [&](std::span<const Dim> of) {
      return i + of.size() < rank ? Dim{1} : of[i + of.size() - rank];
    };
    const Dim x = at(*a), y = at(*b);
    const bool same = x == y && x != kUnknown;
    if (!same && (!is_number(x) || !is_number(y))) return;
    if (x == 1 && (y == 1 || !same)) over_a.push_back(static_cast<Dim>(i));
    if (y == 1 && (x == 1 || !same)) over_b.push_back(static_cast<Dim>(i));
    if (!same && x != 1 && y != 1) return;
  }
  if (std::ranges::equal(*a, *b)) {
    over_a.clear();
    over_b.clear();
  }
  node.give_value(0, over_a);
  node.give_value(1, over_b);
}

void placeholder(Subject& node) {
  const auto shape = node.shape_attr("shape");
  if (!shape) return;
  // Graphs of these versions write [] where nothing is known.
  if (*shape == kScalar && node.producer <= 21) return;
  node.give(0, *shape);
}

// What is fed need not have the shape of the default value: the attribute says what it has.
void placeholder_with_default(Subject& node) {
  const ListId shape = node.shape_attr("shape").value_or(kNoRank);
  node.agree(shape, node.shape_id(0));
  node.give(0, shape);
}

void ensure_shape(Subject& node) {
  const ListId wanted = node.shape_attr("shape").value_or(kNoRank);
  const Fact input = node.fact(0);
  node.give(0, Fact{node.agree(input.shape, wanted), input.has_value() ? input.extra : 0});
}

}  // namespace gedit::shaping
