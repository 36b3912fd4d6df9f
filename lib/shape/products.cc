// Rules of products, sums over axes and what is found along one.
#include <algorithm>
#include <map>

#include "shape/rules.h"

namespace gedit::shaping {

void mat_mul(Subject& node) {
  const auto a = node.of_rank(0, 2), b = node.of_rank(1, 2);
  if (!a || !b) return;
  const bool swap_a = node.flag("transpose_a") || node.flag("a_is_transposed"),
             swap_b = node.flag("transpose_b") || node.flag("b_is_transposed");
  node.agree((*a)[swap_a ? 0 : 1], (*b)[swap_b ? 1 : 0]);
  node.give(0, {(*a)[swap_a ? 1 : 0], (*b)[swap_b ? 0 : 1]});
}

namespace {

void batch_product(Subject& node, bool broadcasts) {
  const Ranked a = node.shape(0), b = node.shape(1);
  if (!node.at_least_rank(0, 2) || !node.at_least_rank(1, 2)) return;
  const bool swap_a = node.flag("adj_x"), swap_b = node.flag("adj_y");
  if (a && b) node.agree((*a)[a->size() - (swap_a ? 2 : 1)], (*b)[b->size() - (swap_b ? 1 : 2)]);
  if (!a || !b) {
    // With one rank known and no broadcast, the other is the same.
    if (broadcasts || (!a && !b)) return;
    const Ranked known = a ? a : b;
    DimList found(known->begin(), known->end());
    found[found.size() - 2] = a ? (*a)[a->size() - (swap_a ? 1 : 2)] : node.fresh(1);
    found[found.size() - 1] = b ? (*b)[b->size() - (swap_b ? 2 : 1)] : node.fresh(2);
    return node.give(0, found);
  }
  const auto outer_a = a->first(a->size() - 2), outer_b = b->first(b->size() - 2);
  DimList found;
  if (broadcasts) {
    const auto outer = broadcast_shapes(node, outer_a, outer_b);
    if (!outer) return;
    found = *outer;
  } else {
    const ListId outer = node.agree(node.list(outer_a), node.list(outer_b));
    if (outer != kNoRank) found.assign(node.dims().of(outer).begin(), node.dims().of(outer).end());
  }
  found.push_back((*a)[a->size() - (swap_a ? 1 : 2)]);
  found.push_back((*b)[b->size() - (swap_b ? 2 : 1)]);
  node.give(0, found);
}

}  // namespace

void batch_mat_mul(Subject& node) { batch_product(node, true); }
void batch_mat_mul_v1(Subject& node) { batch_product(node, false); }

namespace {

// `ab,bc->ac` taken apart: the labels of each operand and of the result; an ellipsis stands as '.'.
std::vector<std::string> einsum_terms(std::string_view equation) {
  std::vector<std::string> terms(1);
  for (size_t i = 0; i < equation.size(); ++i) {
    const char c = equation[i];
    if (c == ',') {
      terms.emplace_back();
    } else if (c == '-') {
      terms.emplace_back();
      ++i;
    } else if (c == '.') {
      terms.back() += '.';
      i += 2;
    } else if (c != ' ') {
      terms.back() += c;
    }
  }
  return terms;
}

}  // namespace

void einsum(Subject& node) {
  const auto terms = einsum_terms(node.text("equation"));
  if (terms.size() != node.count() + 1) return;
  std::map<char, Dim> sizes;
  DimList around;  // what the ellipses stand for, broadcast
  for (size_t i = 0; i < node.count(); ++i) {
    const Ranked known = node.shape(i);
    const std::string& labels = terms[i];
    const size_t ellipsis = labels.find('.');
    if (!known) {
      if (ellipsis != std::string::npos) return;
      continue;
    }
    const size_t named = labels.size() - (ellipsis == std::string::npos ? 0 : 1);
    if (known->size() < named || (ellipsis == std::string::npos && known->size() != named)) {
      return node.contradict("input " + std::to_string(i) + " is " + node.shown(*known) + ", which '" +
                             labels + "' does not fit");
    }
    const size_t covered = known->size() - named;
    size_t at = 0;
    for (const char label : labels) {
      if (label == '.') {
        const auto both = broadcast_shapes(node, around, known->subspan(at, covered));
        if (!both) return;
        around = *both;
        at += covered;
        continue;
      }
      const auto [place, fresh] = sizes.try_emplace(label, (*known)[at]);
      if (!fresh && place->second == 1) place->second = (*known)[at];
      if (!fresh && (*known)[at] != 1) place->second = node.agree(place->second, (*known)[at]);
      ++at;
    }
  }
  DimList found;
  for (const char label : terms.back()) {
    if (label == '.') {
      found.insert(found.end(), around.begin(), around.end());
    } else {
      const auto place = sizes.find(label);
      found.push_back(place != sizes.end() ? place->second : node.fresh(static_cast<uint64_t>(label)));
    }
  }
  node.give(0, found);
}

namespace {

// Which axes of input 0 the elements of input 1 name; nothing where that is not known.
std::optional<std::vector<bool>> named_axes(Subject& node, size_t rank) {
  const Ranked axes = node.value(1);
  if (!axes) return std::nullopt;
  std::vector<bool> named(rank);
  for (const Dim axis : *axes) {
    if (!is_number(axis)) return std::nullopt;
    const auto at = node.axis(axis, rank);
    if (!at) return std::nullopt;
    named[*at] = true;
  }
  return named;
}

}  // namespace

void reduce(Subject& node) {
  const Ranked known = node.shape(0), axes = node.shape(1);
  const bool keep = node.flag("keep_dims");
  // Older graphs may name axes in a matrix.
  if (node.producer >= 21 && axes && axes->size() > 1)
    node.contradict("axes " + node.shown(*axes) + " are no vector");
  if (!known) return;
  if (const auto named = named_axes(node, known->size())) {
    DimList found;
    for (size_t i = 0; i < known->size(); ++i) {
      if (!(*named)[i]) found.push_back((*known)[i]);
      if ((*named)[i] && keep) found.push_back(1);
    }
    return node.give(0, found);
  }
  if (keep) return node.give(0, node.fresh_list(known->size()));
  // How many axes are named, each once, as a rule.
  if (!axes || axes->size() > 1) return;
  if (!axes->empty() && !is_number(axes->front())) return;
  const auto count = axes->empty() ? size_t{1} : static_cast<size_t>(axes->front());
  if (count == 1 && !known->empty()) node.give(0, node.fresh_list(known->size() - 1));
}

void reduce_product(Subject& node) {
  reduce(node);
  const Ranked elements = node.value(0), axes = node.value(1), shape = node.shape(0);
  if (!elements || !axes || axes->empty() || !shape || shape->size() != 1 || node.flag("keep_dims")) return;
  Dim product = 1;
  for (const Dim element : *elements) product = node.dims().multiply(product, element);
  if (product != kUnknown) node.give_element(0, product);
}

void arg_extreme(Subject& node) {
  const Ranked known = node.shape(0);
  if (!known) return;
  if (known->empty()) return node.give(0, kScalar);
  const Dim axis = node.element(1);
  if (!is_number(axis)) return node.give(0, node.fresh_list(known->size() - 1));
  const auto at = node.axis(axis, known->size());
  if (!at) return;
  DimList found(known->begin(), known->end());
  found.erase(found.begin() + static_cast<std::ptrdiff_t>(*at));
  node.give(0, found);
}

void top_k(Subject& node) {
  const Ranked known = node.shape(0);
  if (!known || !node.at_least_rank(0, 1)) return;
  const Dim k = node.count() > 1 ? node.element(1) : node.integer("k");
  DimList found(known->begin(), known->end());
  if (is_number(k) && is_number(found.back()) && k > found.back())
    node.contradict("the first " + Subject::shown(k) + " of " + Subject::shown(found.back()));
  found.back() = node.dims().never_negative(k) ? k : node.fresh(0);
  node.give(0, found);
  node.give(1, found);
}

// Cholesky, MatrixInverse: what they give is square as what they take.
void square_batches(Subject& node) {
  const Ranked known = node.shape(0);
  if (!known || !node.at_least_rank(0, 2)) return;
  DimList found(known->begin(), known->end());
  const size_t rank = found.size();
  found[rank - 1] = found[rank - 2] = node.agree(found[rank - 1], found[rank - 2]);
  node.give(0, found);
}

void sparse_dense_mat_mul(Subject& node) {
  const auto b = node.of_rank(3, 2);
  if (!b) return;
  const bool swap_a = node.flag("adjoint_a"), swap_b = node.flag("adjoint_b");
  const Ranked a = node.value(2);
  Dim rows = a && a->size() == 2 ? (*a)[swap_a ? 1 : 0] : kUnknown;
  if (!node.dims().never_negative(rows)) rows = node.fresh(0);
  node.give(0, {rows, (*b)[swap_b ? 0 : 1]});
}

}  // namespace gedit::shaping
