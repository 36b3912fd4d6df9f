// Rules of ops that work on element after element.
#include <algorithm>

#include "shape/rules.h"

namespace gedit::shaping {

void same(Subject& node) { node.give(0, node.fact(0)); }
void second(Subject& node) { node.give(0, node.fact(1)); }
void same_shape(Subject& node) { node.give(0, node.shape_id(0)); }
void same_all(Subject& node) {
  for (size_t i = 0; i < node.outputs.size(); ++i) node.give(i, node.fact(i));
}

void cast(Subject& node) {
  const auto integer = [](DType type) { return type == DType::kInt32 || type == DType::kInt64; };
  integer(node.type("DstT")) && integer(node.type("SrcT")) ? same(node) : same_shape(node);
}

void scalars(Subject& node) {
  for (size_t i = 0; i < node.outputs.size(); ++i) node.give(i, kScalar);
}
void vectors(Subject& node) {
  for (size_t i = 0; i < node.outputs.size(); ++i) node.give(i, {node.fresh(i)});
}

void from_shape_attr(Subject& node) { node.give(0, node.shape_attr("shape").value_or(kNoRank)); }

void from_shapes_attr(Subject& node) {
  const auto shapes = node.shapes_attr("output_shapes");
  for (size_t i = 0; i < shapes.size(); ++i) node.give(i, shapes[i]);
}

void as_first_two(Subject& node) { node.give(0, node.agree(node.shape_id(0), node.shape_id(1))); }

std::optional<DimList> broadcast_shapes(Subject& node, std::span<const Dim> a, std::span<const Dim> b) {
  if (a.size() < b.size()) std::swap(a, b);
  DimList found(a.begin(), a.end());
  for (size_t i = 0; i < b.size(); ++i) {
    Dim& at = found[a.size() - b.size() + i];
    const Dim other = b[i];
    if (at == 1) {
      at = other;
    } else if (is_number(at) && is_number(other)) {
      if (other != 1 && other != at) {
        node.contradict(Subject::shown(at) + " and " + Subject::shown(other) + " do not agree");
        return std::nullopt;
      }
    } else if (is_number(other)) {
      if (other != 1) at = other;
    } else if (!is_number(at)) {
      at = at == kUnknown || other == kUnknown ? kUnknown : node.dims().broadcast(at, other);
    }
  }
  return found;
}

ListId broadcast_ids(Subject& node, ListId a, ListId b) {
  if (a == b || b == kScalar) return a;
  if (a == kScalar) return b;
  if (a == kNoRank || b == kNoRank) return kNoRank;
  const auto shape = broadcast_shapes(node, node.dims().of(a), node.dims().of(b));
  return shape ? node.list(*shape) : kNoRank;
}

void broadcast(Subject& node) { node.give(0, broadcast_ids(node, node.shape_id(0), node.shape_id(1))); }
void broadcast_three(Subject& node) {
  node.give(0,
            broadcast_ids(node, broadcast_ids(node, node.shape_id(0), node.shape_id(1)), node.shape_id(2)));
}

// Shapes that do not agree may be compared: the answer is one `false` then.
void compare(Subject& node) {
  if (node.flag("incompatible_shape_error", true)) return broadcast(node);
  const Ranked a = node.shape(0), b = node.shape(1);
  if (!a || !b) return;
  const size_t common = std::min(a->size(), b->size());
  for (size_t i = 1; i <= common; ++i) {
    const Dim x = (*a)[a->size() - i], y = (*b)[b->size() - i];
    const bool sure = x == y ? x != kUnknown : x == 1 || y == 1;
    if (!sure) return;
  }
  broadcast(node);
}

namespace {

// Elements of both, of which one may be a scalar.
template <typename Combine>
void combine_values(Subject& node, Combine combine) {
  broadcast(node);
  const Ranked a = node.value(0), b = node.value(1);
  const Ranked x = node.shape(0), y = node.shape(1);
  if (!a || !b || !x || !y || x->size() > 1 || y->size() > 1) return;
  const size_t most = x->size() >= y->size() && a->size() != 1 ? a->size() : std::max(a->size(), b->size());
  const bool single_a = a->size() == 1, single_b = b->size() == 1;
  if ((a->size() != most && !single_a) || (b->size() != most && !single_b)) return;
  DimList found(most);
  for (size_t i = 0; i < most; ++i) found[i] = combine((*a)[single_a ? 0 : i], (*b)[single_b ? 0 : i]);
  node.give_value(0, found, x->empty() && y->empty());
}

}  // namespace

void add_values(Subject& node) {
  combine_values(node, [&](Dim a, Dim b) { return node.dims().add(a, b); });
}
void subtract_values(Subject& node) {
  combine_values(node, [&](Dim a, Dim b) { return node.dims().subtract(a, b); });
}
void multiply_values(Subject& node) {
  combine_values(node, [&](Dim a, Dim b) { return node.dims().multiply(a, b); });
}
// Of numbers: with the sign of what is divided by, or of what is divided.
void floor_mod_values(Subject& node) {
  combine_values(node, [](Dim a, Dim b) -> Dim {
    if (!is_number(a) || !is_number(b) || b == 0 || b == -1) return b == -1 ? 0 : kUnknown;
    const int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  });
}
void truncate_mod_values(Subject& node) {
  combine_values(node, [](Dim a, Dim b) -> Dim {
    if (!is_number(a) || !is_number(b) || b == 0 || b == -1) return b == -1 ? 0 : kUnknown;
    return a % b;
  });
}
void negate_values(Subject& node) {
  same_shape(node);
  const Ranked elements = node.value(0), shape = node.shape(0);
  if (!elements || !shape || shape->size() > 1) return;
  DimList found(elements->begin(), elements->end());
  for (Dim& dim : found) dim = node.dims().subtract(0, dim);
  node.give_value(0, found, shape->empty());
}
void divide_values(Subject& node) {
  combine_values(node, [&](Dim a, Dim b) { return node.dims().floor_divide(a, b); });
}
void maximum_values(Subject& node) {
  combine_values(node, [&](Dim a, Dim b) { return node.dims().maximum(a, b); });
}
void minimum_values(Subject& node) {
  combine_values(node, [&](Dim a, Dim b) { return node.dims().minimum(a, b); });
}

// Select: the condition is a scalar, or has the shape of the others or their first dimension.
void select(Subject& node) {
  const ListId both = node.agree(node.shape_id(1), node.shape_id(2));
  const Ranked condition = node.shape(0), result = node.ranked(both);
  if (condition && result && !condition->empty()) {
    if (condition->size() == result->size()) return node.give(0, node.agree(both, node.shape_id(0)));
    if (condition->size() != 1) {
      node.contradict("a condition " + node.shown(*condition) + " for values " + node.shown(*result));
    } else if (!result->empty()) {
      DimList found(result->begin(), result->end());
      found[0] = node.agree(found[0], condition->front());
      return node.give(0, found);
    }
  }
  if (!result && condition && condition->size() > 1) return node.give(0, node.shape_id(0));
  node.give(0, both);
}

void add_n(Subject& node) {
  ListId found = kNoRank;
  for (size_t i = 0; i < node.count(); ++i) found = node.agree(found, node.shape_id(i));
  node.give(0, found);
}

void bias_add(Subject& node) {
  const Ranked value = node.shape(0);
  const auto bias = node.of_rank(1, 1);
  if (!value || !bias || !node.at_least_rank(0, 2)) return node.give(0, node.shape_id(0));
  DimList found(value->begin(), value->end());
  const bool channels_first = node.text("data_format", "NHWC") == "NCHW";
  Dim& channels = channels_first ? found[1] : found.back();
  channels = node.agree(channels, bias->front());
  node.give(0, found);
}

void bias_add_grad(Subject& node) {
  const Ranked value = node.shape(0);
  if (!value || !node.at_least_rank(0, 2)) return node.give(0, {node.fresh(0)});
  const bool channels_first = node.text("data_format", "NHWC") == "NCHW";
  node.give(0, {channels_first ? (*value)[1] : value->back()});
}

void softmax_cross_entropy(Subject& node) {
  ListId both = broadcast_ids(node, node.shape_id(0), node.shape_id(1));
  if (both == kNoRank) both = node.list(node.fresh_list(2));
  node.give(1, both);
  const Ranked shape = node.ranked(both);
  if (shape->size() == 2) {
    node.give(0, {shape->front()});
  } else {
    node.contradict("logits and labels give " + node.shown(*shape) + ", not of rank 2");
  }
}

void sparse_softmax_cross_entropy(Subject& node) {
  auto logits = node.of_rank(0, 2);
  const auto labels = node.of_rank(1, 1);
  if (!logits || !labels) return;
  logits->front() = node.agree(logits->front(), labels->front());
  node.give(0, {logits->front()});
  node.give(1, *logits);
}

namespace {

std::string_view channel_format(Subject& node) {
  return node.attr("data_format") ? node.text("data_format") : "NHWC";
}

// Merges the channels of a tensor with vectors among the inputs; the vector's size in `channels`.
std::optional<DimList> with_channels(Subject& node, size_t input, size_t vectors_from, size_t vectors_to,
                                     Dim& channels) {
  const Ranked known = node.shape(input);
  const std::string_view format = channel_format(node);
  DimList found =
      known ? DimList(known->begin(), known->end()) : node.fresh_list(format.size() == 5 ? 5 : 4, 50);
  if (const size_t rank = format.size() == 5 ? 5 : 4; found.size() != rank) {
    node.contradict("input " + std::to_string(input) + " is " + node.shown(found) + ", not of rank " +
                    std::to_string(rank));
    return std::nullopt;
  }
  Dim& dim = format.starts_with("NC") ? found[1] : found.back();
  for (size_t i = vectors_from; i < vectors_to; ++i) {
    const Ranked vector = node.shape(i);
    if (vector && vector->size() == 1 && vector->front() != 0) dim = node.agree(dim, vector->front());
  }
  channels = dim;
  return found;
}

}  // namespace

void batch_norm(Subject& node) {
  Dim channels = kUnknown;
  const bool training = node.flag("is_training", true);
  if (!training) {
    node.of_rank(3, 1);
    node.of_rank(4, 1);
  }
  const auto shape = with_channels(node, 0, 1, training ? 3 : 5, channels);
  if (!shape) return;
  node.give(0, *shape);
  for (size_t i = 1; i < 5; ++i) node.give(i, {channels});
}

void batch_norm_grad(Subject& node) {
  Dim channels = kUnknown;
  const auto shape = with_channels(node, 0, 2, 3, channels);
  if (!shape) return;
  node.give(0, node.agree(node.list(*shape), node.shape_id(1)));
  node.give(1, {channels});
  node.give(2, {channels});
  // Otherwise releases differ: 1.15 says one size a channel, 2.21 none.
  if (node.flag("is_training", true)) {
    node.give(3, {0});
    node.give(4, {0});
  }
}

}  // namespace gedit::shaping
