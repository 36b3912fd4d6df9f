// Rules of ops that pick elements by their places, or put them there.
#include <algorithm>

#include "shape/rules.h"

namespace gedit::shaping {
namespace {

// What stands before the axis, the indices, what stands behind it.
void gathered(Subject& node, Ranked params, Ranked indices, size_t axis, size_t batch) {
  if (!params || !indices || axis >= params->size() || batch > axis || batch > indices->size()) return;
  DimList found(params->begin(), params->begin() + static_cast<std::ptrdiff_t>(axis));
  found.insert(found.end(), indices->begin() + static_cast<std::ptrdiff_t>(batch), indices->end());
  found.insert(found.end(), params->begin() + static_cast<std::ptrdiff_t>(axis) + 1, params->end());
  node.give(0, found);
}

// Elements of a vector by known places.
void pick(Subject& node, Ranked elements, Ranked places, bool scalar) {
  if (!elements || !places) return;
  DimList found;
  for (const Dim place : *places) {
    if (!is_number(place) || place < 0 || place >= static_cast<Dim>(elements->size())) return;
    found.push_back((*elements)[static_cast<size_t>(place)]);
  }
  node.give_value(0, found, scalar);
}

void gather_along(Subject& node, Dim axis, int64_t batch) {
  const Ranked params = node.shape(0), indices = node.shape(1);
  if (!params || !node.at_least_rank(0, 1)) return;
  if (!is_number(axis)) {
    if (indices && batch == 0) node.give(0, node.fresh_list(params->size() - 1 + indices->size()));
    return;
  }
  const auto at = node.axis(axis, params->size());
  if (!at || !indices) return;
  if (batch < 0) batch += static_cast<int64_t>(indices->size());
  gathered(node, params, indices, *at, static_cast<size_t>(std::max<int64_t>(batch, 0)));
  if (params->size() == 1 && indices->size() <= 1) pick(node, node.value(0), node.value(1), indices->empty());
}

}  // namespace

void gather(Subject& node) { gather_along(node, 0, 0); }
void gather_v2(Subject& node) { gather_along(node, node.element(2), node.integer("batch_dims")); }

namespace {

void gather_nd_of(Subject& node, Ranked params) {
  const Ranked indices = node.shape(1);
  if (!params || !indices || indices->empty() || !is_number(indices->back())) return;
  const Dim depth = indices->back();
  if (depth < 0 || depth > static_cast<Dim>(params->size())) {
    return node.contradict("places of " + Subject::shown(depth) + " axes in " + node.shown(*params));
  }
  DimList found(indices->begin(), indices->end() - 1);
  found.insert(found.end(), params->begin() + depth, params->end());
  node.give(0, found);
}

}  // namespace

void gather_nd(Subject& node) { gather_nd_of(node, node.shape(0)); }
void resource_gather(Subject& node) {
  if (!node.fact(0).has_handle()) return;
  const Ranked params = node.ranked(node.fact(0).list()), indices = node.shape(1);
  const int64_t batch = node.integer("batch_dims");
  gathered(node, params, indices, static_cast<size_t>(std::max<int64_t>(batch, 0)),
           static_cast<size_t>(std::max<int64_t>(batch, 0)));
}
void resource_gather_nd(Subject& node) {
  if (node.fact(0).has_handle()) gather_nd_of(node, node.ranked(node.fact(0).list()));
}

void scatter_nd(Subject& node) { node.give(0, node.shape_from(2)); }

void one_hot(Subject& node) {
  const Ranked known = node.shape(0);
  if (!known) return;
  const auto at = node.axis(node.integer("axis", -1), known->size() + 1);
  if (!at) return;
  DimList found(known->begin(), known->end());
  const Dim depth = node.element(1);
  found.insert(found.begin() + static_cast<std::ptrdiff_t>(*at),
               node.dims().never_negative(depth) ? depth : node.fresh(0));
  node.give(0, found);
}

void where(Subject& node) {
  const Ranked known = node.shape(0);
  node.give(0, {node.fresh(0), known ? static_cast<Dim>(known->size()) : node.fresh(1)});
}

void unique(Subject& node) {
  node.give(0, {node.fresh(0)});
  node.give(1, node.shape_id(0));
  node.give(2, {node.fresh(0)});
}
void unique_v2(Subject& node) {
  const Ranked known = node.shape(0);
  if (known && known->size() == 1) return unique(node);
  if (known) node.give(0, node.fresh_list(known->size()));
  node.give(1, {node.fresh(100)});
  node.give(2, {node.fresh(101)});
}

void list_diff(Subject& node) {
  node.give(0, {node.fresh(0)});
  node.give(1, {node.fresh(0)});
}

void segment_sum(Subject& node) {
  const Ranked known = node.shape(0);
  if (!known || !node.at_least_rank(0, 1)) return;
  DimList found(known->begin(), known->end());
  found[0] = node.fresh(0);
  node.give(0, found);
}

void unsorted_segment_sum(Subject& node) {
  const Ranked known = node.shape(0), ids = node.shape(1);
  if (!known || !ids) return;
  if (ids->size() > known->size())
    return node.contradict("segments of " + node.shown(*ids) + " in " + node.shown(*known));
  for (size_t i = 0; i < ids->size(); ++i) node.agree((*known)[i], (*ids)[i]);
  const Dim segments = node.element(2);
  DimList found{node.dims().never_negative(segments) ? segments : node.fresh(0)};
  found.insert(found.end(), known->begin() + static_cast<std::ptrdiff_t>(ids->size()), known->end());
  node.give(0, found);
}

void sparse_segment(Subject& node) {
  node.agree_along(1, 2);
  segment_sum(node);
}

// The number of segments is an input, the last one.
void sparse_segment_rows(Subject& node) {
  node.agree_along(1, 2);
  const Ranked known = node.shape(0);
  if (!known || !node.at_least_rank(0, 1)) return;
  DimList found(known->begin(), known->end());
  const Dim segments = node.element(3);
  found[0] = node.dims().never_negative(segments) ? segments : node.fresh(0);
  node.give(0, found);
}

void dynamic_stitch(Subject& node) {
  const size_t count = node.count() / 2;
  Dim most = -1;
  bool all = true;
  ListId rest = kNoRank;
  for (size_t i = 0; i < count; ++i) {
    const Ranked places = node.value(i), indices = node.shape(i), data = node.shape(count + i);
    all = all && (places || (indices && indices->size() == 1 && indices->front() == 0));
    for (const Dim place : places.value_or(std::span<const Dim>())) {
      all = all && is_number(place);
      if (is_number(place)) most = std::max(most, place);
    }
    if (!indices || !data) continue;
    if (indices->size() > data->size())
      return node.contradict(node.shown(*indices) + " places for " + node.shown(*data));
    rest = node.agree(rest, node.list(data->subspan(indices->size())));
  }
  if (rest == kNoRank) return;
  const auto tail = node.dims().of(rest);
  DimList found{all ? most + 1 : node.fresh(0)};
  found.insert(found.end(), tail.begin(), tail.end());
  node.give(0, found);
  if (!all || !tail.empty() || most + 1 > static_cast<Dim>(kMostElements)) return;
  DimList elements(static_cast<size_t>(most + 1), kUnknown);
  for (size_t i = 0; i < count; ++i) {
    const Ranked places = node.value(i), values = node.value(count + i);
    for (size_t k = 0; places && k < places->size(); ++k) {
      if ((*places)[k] >= 0)
        elements[static_cast<size_t>((*places)[k])] = values && k < values->size() ? (*values)[k] : kUnknown;
    }
  }
  node.give_value(0, elements);
}

void dynamic_partition(Subject& node) {
  const Ranked data = node.shape(0), parts = node.shape(1);
  if (!data || !parts) return;
  if (parts->size() > data->size())
    return node.contradict("parts of " + node.shown(*parts) + " in " + node.shown(*data));
  for (size_t i = 0; i < parts->size(); ++i) node.agree((*data)[i], (*parts)[i]);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    DimList found{node.fresh(i)};
    found.insert(found.end(), data->begin() + static_cast<std::ptrdiff_t>(parts->size()), data->end());
    node.give(i, found);
  }
}

void in_top_k(Subject& node) {
  const auto predictions = node.of_rank(0, 2), targets = node.of_rank(1, 1);
  if (predictions && targets) node.give(0, {node.agree(predictions->front(), targets->front())});
}

}  // namespace gedit::shaping
