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

void lookup(Subject& node) {
  const Ranked keys = node.shape(1), otherwise = node.shape(2);
  if (keys && otherwise && otherwise->empty()) node.give(0, node.shape_id(1));
}

}  // namespace gedit::shaping
