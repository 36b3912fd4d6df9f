// Rules of what keeps a state: variables, arrays and lists of tensors, tables, savers.
#include <algorithm>

#include "shape/rules.h"

namespace gedit::shaping {

void variable(Subject& node) { node.give(0, node.shape_attr("shape").value_or(kNoRank)); }

// It says [] where it does not know.
void legacy_variable(Subject& node) {
  const ListId shape = node.shape_attr("shape").value_or(kNoRank);
  node.give(0, shape == kScalar ? kNoRank : shape);
}

void variable_handle(Subject& node) {
  node.give(0, handled(kScalar, node.shape_attr("shape").value_or(kNoRank)));
}

void read_variable(Subject& node) {
  const Fact handle = node.fact(0);
  if (handle.has_handle()) node.give(0, handle.list());
}

void assign(Subject& node) {
  node.give(0, node.flag("validate_shape", true) ? node.agree(node.shape_id(0), node.shape_id(1))
                                                 : node.shape_id(1));
}

void stack(Subject& node) { node.give(0, {2}); }

// Two things: a handle, and a flow to order by.
void tensor_array(Subject& node) {
  const ListId element = node.shape_attr("element_shape").value_or(kNoRank);
  node.give(0, handled(node.list(DimList{2}), element));
  node.give(1, kScalar);
}

namespace {

ListId element_of(Subject& node, size_t input) {
  const Fact handle = node.fact(input);
  return handle.has_handle() ? handle.list() : kNoRank;
}

}  // namespace

void tensor_array_handle(Subject& node) {
  node.give(0, handled(node.list(DimList{2}), element_of(node, 0)));
  node.give(1, kScalar);
}

void tensor_array_read(Subject& node) { node.give(0, element_of(node, 0)); }

void tensor_array_gather(Subject& node) {
  ListId element = element_of(node, 0);
  const ListId stated = node.shape_attr("element_shape").value_or(kNoRank);
  element = node.agree(element, stated);
  const Ranked known = node.ranked(element), indices = node.shape(1);
  if (!known) return;
  DimList found{indices && indices->size() == 1 ? indices->front() : node.fresh(uint64_t{9} << 32)};
  found.insert(found.end(), known->begin(), known->end());
  node.give(0, found);
}

void tensor_array_concat(Subject& node) {
  const ListId stated = node.shape_attr("element_shape_except0").value_or(kNoRank);
  const Ranked known = node.ranked(stated);
  node.give(1, {node.fresh(uint64_t{9} << 32)});
  if (!known) return;
  DimList found{node.fresh(uint64_t{10} << 32)};
  found.insert(found.end(), known->begin(), known->end());
  node.give(0, found);
}

void list_reserve(Subject& node) { node.give(0, handled(kScalar, node.shape_from(0))); }

void list_from_tensor(Subject& node) {
  const Ranked known = node.shape(0);
  ListId element = node.shape_from(1);
  if (known && !known->empty()) element = node.agree(node.list(known->subspan(1)), element);
  node.give(0, handled(kScalar, element));
}

void list_item(Subject& node) { node.give(0, node.agree(element_of(node, 0), node.shape_from(2))); }

void list_stack(Subject& node) {
  const ListId element = node.agree(element_of(node, 0), node.shape_from(1));
  const Ranked known = node.ranked(element);
  if (!known) return;
  const int64_t count = node.integer("num_elements", -1);
  DimList found{count >= 0 ? count : node.fresh(uint64_t{9} << 32)};
  found.insert(found.end(), known->begin(), known->end());
  node.give(0, found);
}

void list_gather(Subject& node) {
  const ListId element = node.agree(element_of(node, 0), node.shape_from(2));
  const Ranked known = node.ranked(element), indices = node.shape(1);
  if (!known) return;
  DimList found{indices && indices->size() == 1 ? indices->front() : node.fresh(uint64_t{9} << 32)};
  found.insert(found.end(), known->begin(), known->end());
  node.give(0, found);
}

namespace {

void concatenated(Subject& node, ListId element) {
  const Ranked known = node.ranked(node.agree(element_of(node, 0), element));
  node.give(1, {node.fresh(uint64_t{9} << 32)});
  if (!known || known->empty()) return;
  DimList found(known->begin(), known->end());
  found[0] = node.fresh(uint64_t{10} << 32);
  node.give(0, found);
}

}  // namespace

void list_concat(Subject& node) { concatenated(node, node.shape_attr("element_shape").value_or(kNoRank)); }
void list_concat_v2(Subject& node) { concatenated(node, node.shape_from(1)); }

void list_push(Subject& node) {
  const ListId element = element_of(node, 0);
  node.give(0, handled(kScalar, element));
}

void list_set(Subject& node) { node.give(0, handled(kScalar, element_of(node, 0))); }

void list_pop(Subject& node) {
  node.give(0, handled(kScalar, element_of(node, 0)));
  node.give(1, node.agree(element_of(node, 0), node.shape_from(1)));
}

void list_element_shape(Subject& node) {
  const Ranked known = node.ranked(element_of(node, 0));
  if (!known) return;
  node.give_value(0, *known);
}

namespace {

// What stands behind the handle of a queue: of each component the rank and the dimensions. Those that are not
// known are of another size in each element: no symbol, but -1.
constexpr Dim kOfElement = -1;

void queue_of(Subject& node, ListId shape, bool priority) {
  const auto shapes = node.shapes_attr("shapes");
  DimList components;
  if (priority && !shapes.empty()) components.push_back(0);
  for (const ListId component : shapes) {
    const Ranked known = node.ranked(component);
    components.push_back(known ? static_cast<Dim>(known->size()) : kOfElement);
    for (size_t i = 0; known && i < known->size(); ++i)
      components.push_back(is_number((*known)[i]) ? (*known)[i] : kOfElement);
  }
  node.give(0, handled(shape, components.empty() ? kNoRank : node.dims().list(components)));
}

// The components of what is taken from a queue, behind `leading` dimensions.
void dequeued(Subject& node, const DimList& leading) {
  const Fact handle = node.fact(0);
  const Ranked components = handle.has_handle() ? node.ranked(handle.list()) : Ranked();
  if (!components) return;
  size_t at = 0;
  for (size_t i = 0; i < node.outputs.size() && at < components->size(); ++i) {
    const Dim rank = (*components)[at++];
    if (rank == kOfElement) continue;
    if (!is_number(rank) || rank < 0 || static_cast<size_t>(rank) > components->size() - at) return;
    DimList found = leading;
    for (size_t k = 0; k < static_cast<size_t>(rank); ++k) {
      const Dim dim = (*components)[at++];
      found.push_back(is_number(dim) && dim >= 0 ? dim : node.fresh(uint64_t{14} << 32 | i << 16 | k));
    }
    node.give(i, found);
  }
}

}  // namespace

void queue(Subject& node) { queue_of(node, kScalar, false); }
void priority_queue(Subject& node) { queue_of(node, kScalar, true); }
void queue_reference(Subject& node) { queue_of(node, node.list(DimList{2}), false); }
void priority_queue_reference(Subject& node) { queue_of(node, node.list(DimList{2}), true); }

void dequeue(Subject& node) { dequeued(node, {}); }
void dequeue_many(Subject& node) {
  const Dim count = node.element(1);
  dequeued(node, {is_number(count) && count < 0 ? node.fresh(uint64_t{15} << 32) : node.dims().size(count)});
}
void dequeue_up_to(Subject& node) { dequeued(node, {node.fresh(uint64_t{15} << 32)}); }

void lookup(Subject& node) {
  const Ranked keys = node.shape(1), otherwise = node.shape(2);
  if (keys && otherwise && otherwise->empty()) node.give(0, node.shape_id(1));
}

}  // namespace gedit::shaping
