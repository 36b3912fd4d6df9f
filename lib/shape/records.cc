// Rules of records, text and sparse tensors.
#include "graph/types.h"
#include "shape/rules.h"

namespace gedit::shaping {
namespace {

// A sparse tensor as three: indices [n,rank], values [n], dense shape [rank].
void sparse(Subject& node, size_t first, size_t apart, size_t index, Dim rank) {
  const Dim entries = node.fresh(uint64_t{11} << 32 | index);
  node.give(first, {entries, rank});
  node.give(first + apart, {entries});
  node.give(first + 2 * apart, {rank});
}

// The outputs of the parsing ops: sparse tensors, then dense ones, each `around` its stated shape.
void parsed(Subject& node, size_t sparse_count, std::span<const Dim> around) {
  for (size_t i = 0; i < sparse_count; ++i)
    sparse(node, i, sparse_count, i, static_cast<Dim>(around.size()) + 1);
  const auto shapes = node.shapes_attr("dense_shapes");
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Ranked known = node.ranked(shapes[i]);
    if (!known) continue;
    DimList found(around.begin(), around.end());
    found.insert(found.end(), known->begin(), known->end());
    node.give(3 * sparse_count + i, found);
  }
}

}  // namespace

void parse_example(Subject& node) {
  const Ranked records = node.shape(0);
  const auto count = static_cast<size_t>(node.integer("Nsparse"));
  if (3 * count > node.outputs.size()) return;
  parsed(node, count,
         records && records->size() == 1 ? *records : std::span<const Dim>(DimList{node.fresh(0)}));
}

void parse_example_v2(Subject& node) {
  const Ranked records = node.shape(0);
  const auto count = static_cast<size_t>(node.integer("num_sparse"));
  if (!records || records->size() > 1 || 3 * count > node.outputs.size()) return;
  parsed(node, count, *records);
  const size_t ragged = 3 * count + node.shapes_attr("dense_shapes").size();
  if (ragged >= node.outputs.size()) return;
  const size_t each = (node.outputs.size() - ragged) / 2;
  for (size_t i = 0; i < each; ++i) {
    node.give(ragged + i, {node.fresh(uint64_t{12} << 32 | i)});
    const bool batch = !records->empty();
    node.give(ragged + each + i,
              {batch ? node.dims().add(records->front(), 1) : node.fresh(uint64_t{13} << 32 | i)});
  }
}

void parse_single_example(Subject& node) {
  const auto count = static_cast<size_t>(node.integer("num_sparse"));
  if (3 * count <= node.outputs.size()) parsed(node, count, {});
}

void decode_raw(Subject& node) {
  const Ranked known = node.shape(0);
  if (!known) return;
  DimList found(known->begin(), known->end());
  found.push_back(node.fresh(0));
  node.give(0, found);
}

void decode_csv(Subject& node) {
  for (size_t i = 0; i < node.outputs.size(); ++i) node.give(i, node.shape_id(0));
}

void string_split(Subject& node) { sparse(node, 0, 1, 0, 2); }

void string_join(Subject& node) {
  ListId found = kScalar;
  for (size_t i = 0; i < node.count(); ++i) {
    const Ranked known = node.shape(i);
    if (!known) return;
    if (!known->empty()) found = found == kScalar ? node.shape_id(i) : node.agree(found, node.shape_id(i));
  }
  node.give(0, found);
}

void sparse_to_dense(Subject& node) { node.give(0, node.shape_from(1)); }

void sparse_reshape(Subject& node) {
  const Ranked indices = node.shape(0), wanted = node.shape(2);
  const Dim entries = indices && indices->size() == 2 ? indices->front() : node.fresh(0);
  const Dim rank = wanted && wanted->size() == 1 ? wanted->front() : node.fresh(1);
  node.give(0, {entries, rank});
  node.give(1, {rank});
}

void sparse_reorder(Subject& node) {
  node.give(0, node.shape_id(0));
  node.give(1, node.shape_id(1));
}

void sparse_fill_empty_rows(Subject& node) {
  const Ranked indices = node.shape(0), form = node.value(2);
  const Dim rank = indices && indices->size() == 2 ? (*indices)[1] : node.fresh(9);
  const Dim entries = node.fresh(0);
  const Dim rows =
      form && !form->empty() && node.dims().never_negative(form->front()) ? form->front() : node.fresh(1);
  node.give(0, {entries, rank});
  node.give(1, {entries});
  node.give(2, {rows});
  node.give(3, {indices && indices->size() == 2 ? indices->front() : node.fresh(2)});
}

void sparse_slice(Subject& node) {
  const Ranked form = node.shape(2);
  sparse(node, 0, 1, 0, form && form->size() == 1 ? form->front() : node.fresh(0));
}

void sparse_concat(Subject& node) {
  const auto count = static_cast<size_t>(node.integer("N", 1));
  const Ranked indices = node.shape(0);
  Dim entries = 0;
  for (size_t i = 0; i < count; ++i) {
    const Ranked more = node.shape(i);
    entries = node.dims().add(entries, more && more->size() == 2 ? more->front() : kUnknown);
  }
  if (entries == kUnknown) entries = node.fresh(0);
  const Dim rank = indices && indices->size() == 2 ? (*indices)[1] : node.fresh(1);
  node.give(0, {entries, rank});
  node.give(1, {entries});
  node.give(2, {rank});
}

void sparse_cross(Subject& node) { sparse(node, 0, 1, 0, 2); }

void reader_read(Subject& node) {
  const bool several = node.outputs.size() == 2 && node.count() > 2;
  for (size_t i = 0; i < 2; ++i) several ? node.give(i, {node.fresh(0)}) : node.give(i, kScalar);
}

void ctc_greedy(Subject& node) {
  const auto inputs = node.of_rank(0, 3);
  sparse(node, 0, 1, 0, 2);
  if (inputs) node.give(3, {(*inputs)[1], 1});
}

void ctc_loss(Subject& node) {
  const auto inputs = node.of_rank(0, 3);
  if (!inputs) return;
  node.give(0, {(*inputs)[1]});
  node.give(1, *inputs);
}

}  // namespace gedit::shaping
