// Rules of ops that keep elements and order them otherwise, or put more around them.
#include <algorithm>

#include "base/size.h"
#include "shape/rules.h"

namespace gedit::shaping {
namespace {

constexpr uint64_t kRest = uint64_t{8} << 32;  // of symbols

// The product of sizes as a number and symbols; `exact` where none is unknown.
struct Product {
  int64_t number = 1;
  DimList symbols;
  bool exact = true;

  void take(Dims& dims, Dim dim) {
    if (dim == kUnknown) {
      exact = false;
      return;
    }
    DimList more;
    if (__builtin_mul_overflow(number, dims.factors(dim, more), &number)) exact = false;
    symbols.insert(symbols.end(), more.begin(), more.end());
  }
};

// What is in both goes.
void cancel(DimList& a, DimList& b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  DimList only_a, only_b;
  std::ranges::set_difference(a, b, std::back_inserter(only_a));
  std::ranges::set_difference(b, a, std::back_inserter(only_b));
  a = std::move(only_a);
  b = std::move(only_b);
}

}  // namespace

void reshape(Subject& node) {
  const Ranked known = node.shape(0), wanted = node.value(1), form = node.shape(1);
  if (!wanted) {
    if (form && form->size() == 1 && is_number(form->front()) && form->front() <= static_cast<Dim>(kMostRank))
      node.give(0, node.fresh_list(static_cast<size_t>(form->front())));
    return;
  }
  if (form && form->empty() && node.element(1) == -1) return node.give(0, {node.fresh(0)});
  Dims& dims = node.dims();
  Product all, rest;
  for (const Dim dim : known.value_or(std::span<const Dim>())) all.take(dims, dim);
  if (!known) all.exact = false;
  DimList found(wanted->begin(), wanted->end());
  size_t open = found.size(), unclear = 0;
  bool negative = false;
  for (size_t i = 0; i < found.size(); ++i) {
    if (is_number(found[i]) && found[i] < -1) node.contradict("a size of " + std::to_string(found[i]));
    if (dims.never_negative(found[i])) {
      rest.take(dims, found[i]);
      continue;
    }
    // -1, or something that may be.
    negative = negative || found[i] == -1;
    open = i;
    ++unclear;
    found[i] = node.fresh(kRest | i);
  }
  const bool number_alone = all.exact && all.symbols.empty();
  if (unclear == 1 && all.exact && rest.exact) {
    DimList mine = all.symbols, theirs = rest.symbols;
    if (rest.number != 0 && all.number != 0) cancel(mine, theirs);
    if (all.number == 0 && rest.number != 0) {
      found[open] = 0;
    } else if (theirs.empty() && rest.number != 0) {
      if (mine.empty() && all.number % rest.number != 0) {
        node.contradict(node.shown(*known) + " does not divide by " + std::to_string(rest.number));
      } else {
        Dim size = all.number;
        for (const Dim symbol : mine) size = dims.multiply(size, symbol);
        size = dims.floor_divide(size, rest.number);
        // An element that is no -1 for sure may say it, but says no more than that.
        if (size != kUnknown) found[open] = size;
      }
    }
  } else if (unclear == 0 && number_alone && rest.exact && rest.symbols.empty()) {
    if (all.number != rest.number)
      node.contradict(node.shown(*known) + " as " + node.shown(found) + ", of " + std::to_string(all.number) +
                      " and " + std::to_string(rest.number) + " elements");
  } else if (unclear == 0 && all.exact && rest.exact && rest.number != 0) {
    // A symbol that stands alone is what is left for it.
    DimList mine = all.symbols, theirs = rest.symbols;
    cancel(mine, theirs);
    if (mine.empty() && theirs.size() == 1 && all.number % rest.number == 0) {
      for (Dim& dim : found) {
        if (dim == theirs.front()) dim = all.number / rest.number;
      }
    }
  }
  node.give(0, found);
  // The elements stay those they were, one more or less around them.
  const Ranked elements = node.value(0);
  if (elements && found.size() <= 1 && !node.outputs.empty()) {
    const ListId shape = node.outputs[0].shape;
    node.give_value(0, *elements, found.empty());
    if (node.outputs[0].shape != shape) node.give(0, shape);
  }
}

void squeeze(Subject& node) {
  const Ranked known = node.shape(0);
  std::vector<int64_t> axes = node.integers("squeeze_dims");
  if (!known) return;
  DimList found;
  if (axes.empty()) {
    for (const Dim dim : *known) {
      if (!is_number(dim)) return;
      if (dim != 1) found.push_back(dim);
    }
  } else {
    std::vector<bool> gone(known->size());
    for (const int64_t axis : axes) {
      const auto at = node.axis(axis, known->size());
      if (!at) return;
      gone[*at] = true;
      if (is_number((*known)[*at]) && (*known)[*at] != 1)
        return node.contradict("a size of " + Subject::shown((*known)[*at]) + " where 1 is squeezed");
    }
    for (size_t i = 0; i < known->size(); ++i) {
      if (!gone[i]) found.push_back((*known)[i]);
    }
  }
  node.give(0, found);
  const Ranked elements = node.value(0);
  if (elements && found.empty() && elements->size() == 1) node.give_value(0, *elements, true);
  if (elements && found.size() == 1) node.give_value(0, *elements);
}

void expand_dims(Subject& node) {
  const Ranked known = node.shape(0);
  const Dim axis = node.element(1);
  if (!known) return;
  if (!is_number(axis)) return node.give(0, node.fresh_list(known->size() + 1));
  const auto at = node.axis(axis, known->size() + 1);
  if (!at) return;
  DimList found(known->begin(), known->end());
  found.insert(found.begin() + static_cast<std::ptrdiff_t>(*at), 1);
  node.give(0, found);
  const Ranked elements = node.value(0);
  if (elements && known->empty()) node.give_value(0, *elements);
}

void transpose(Subject& node) {
  const Ranked known = node.shape(0), order = node.value(1), form = node.shape(1);
  if (!order) {
    if (known) node.of_size(1, static_cast<Dim>(known->size()));
    if (known) return node.give(0, node.fresh_list(known->size()));
    if (form && form->size() == 1 && is_number(form->front()) && form->front() <= static_cast<Dim>(kMostRank))
      node.give(0, node.fresh_list(static_cast<size_t>(form->front())));
    return;
  }
  if (!known) return node.give(0, node.fresh_list(order->size()));
  if (order->size() != known->size()) {
    return node.contradict("an order of " + std::to_string(order->size()) + " axes for " +
                           node.shown(*known));
  }
  DimList found;
  for (size_t i = 0; i < order->size(); ++i) {
    const Dim axis = (*order)[i];
    const auto at = is_number(axis) ? node.axis(axis, known->size()) : std::nullopt;
    found.push_back(at ? (*known)[*at] : node.fresh(i));
  }
  node.give(0, found);
}

void invert_permutation(Subject& node) {
  same_shape(node);
  const Ranked order = node.value(0);
  if (!order) return;
  DimList found(order->size(), kUnknown);
  for (size_t i = 0; i < order->size(); ++i) {
    const Dim at = (*order)[i];
    if (!is_number(at) || at < 0 || at >= static_cast<Dim>(found.size())) return;
    found[static_cast<size_t>(at)] = static_cast<Dim>(i);
  }
  node.give_value(0, found);
}

void tile(Subject& node) {
  const Ranked known = node.shape(0), times = node.value(1);
  if (!known) {
    const Ranked form = node.shape(1);
    if (form && form->size() == 1 && is_number(form->front()) && form->front() <= 254)
      node.give(0, node.fresh_list(static_cast<size_t>(form->front())));
    return;
  }
  if (!times) {
    node.of_size(1, static_cast<Dim>(known->size()));
    return node.give(0, node.fresh_list(known->size()));
  }
  if (times->size() != known->size()) {
    return node.contradict(counted(times->size(), "multiple") + " for " + node.shown(*known));
  }
  DimList found(known->size());
  for (size_t i = 0; i < found.size(); ++i) {
    const Dim size = node.dims().size(node.dims().multiply((*known)[i], (*times)[i]));
    found[i] = size == kUnknown ? node.fresh(i) : size;
  }
  node.give(0, found);
  const Ranked elements = node.value(0);
  if (elements && found.size() == 1 && is_number(found[0]) && !elements->empty() &&
      found[0] <= static_cast<Dim>(kMostElements)) {
    DimList repeated;
    while (repeated.size() < static_cast<size_t>(found[0]))
      repeated.insert(repeated.end(), elements->begin(), elements->end());
    node.give_value(0, repeated);
  }
}

namespace {

// Elements of a matrix [n,2] are carried by nobody; a Const tells them itself in two columns.
ListId padded(Subject& node) {
  const Ranked known = node.shape(0), form = node.shape(1), around = node.value(1);
  if (form && form->size() == 2) node.agree(form->back(), 2);
  if (!known) {
    if (form && form->size() == 2 && is_number(form->front()) && form->front() <= 254)
      return node.list(node.fresh_list(static_cast<size_t>(form->front())));
    return kNoRank;
  }
  if (form && form->size() == 2 && is_number(form->front()) &&
      form->front() != static_cast<Dim>(known->size())) {
    node.contradict("paddings " + node.shown(*form) + " for " + node.shown(*known));
    return kNoRank;
  }
  if (!around || around->size() != 2 * known->size()) return node.list(node.fresh_list(known->size()));
  DimList found(known->size());
  for (size_t i = 0; i < found.size(); ++i) {
    Dims& dims = node.dims();
    const Dim size = dims.size(dims.add((*known)[i], dims.add((*around)[2 * i], (*around)[2 * i + 1])));
    found[i] = size == kUnknown ? node.fresh(i) : size;
  }
  return node.list(found);
}

}  // namespace

void pad(Subject& node) { node.give(0, padded(node)); }

void broadcast_to(Subject& node) {
  const ListId wanted = node.shape_from(1);
  const Ranked known = node.shape(0), form = node.ranked(wanted);
  if (!node.of_rank(1, 1) || !known || !form) return node.give(0, wanted);
  if (known->size() > form->size())
    return node.contradict(node.shown(*known) + " broadcast to " + node.shown(*form));
  DimList found(form->begin(), form->end());
  for (size_t i = 1; i <= known->size(); ++i) {
    const Dim size = (*known)[known->size() - i];
    Dim& into = found[found.size() - i];
    if (is_number(size) && size > 1) into = node.agree(into, size);
  }
  node.give(0, found);
}

namespace {

// The sizes of space, each times or by its block and with what is put around or cut off.
void blocks(Subject& node, const DimList& block, Ranked around, bool to_batch) {
  const Ranked known = node.shape(0);
  const auto divides = [&](Dim size, Dim by) {
    if (is_number(size) && is_number(by) && by > 0 && size % by != 0)
      node.contradict(Subject::shown(size) + " does not divide by " + Subject::shown(by));
    return node.dims().floor_divide(size, by);
  };
  if (!known) return;
  if (known->size() < block.size() + 1)
    return node.contradict(node.shown(*known) + " for " + counted(block.size(), "block"));
  Dims& dims = node.dims();
  DimList found(known->begin(), known->end());
  for (size_t i = 0; i < block.size(); ++i) {
    found[0] = to_batch ? dims.multiply(found[0], block[i]) : divides(found[0], block[i]);
    const Dim sum = around && around->size() == 2 * block.size()
                        ? dims.add((*around)[2 * i], (*around)[2 * i + 1])
                        : kUnknown;
    Dim& size = found[i + 1];
    size =
        to_batch ? divides(dims.add(size, sum), block[i]) : dims.subtract(dims.multiply(size, block[i]), sum);
    if (is_number(size) && size < 0) node.contradict("a size of " + Subject::shown(size));
    size = dims.size(size);
    if (size == kUnknown) size = node.fresh(i + 1);
  }
  if (found[0] == kUnknown) found[0] = node.fresh(0);
  node.give(0, found);
}

DimList block_shape(Subject& node, bool& known) {
  const Ranked block = node.value(1), form = node.shape(1);
  known = block || (form && form->size() == 1 && is_number(form->front()) && form->front() <= 254);
  if (block) return {block->begin(), block->end()};
  return known ? DimList(static_cast<size_t>(form->front()), kUnknown) : DimList();
}

}  // namespace

void space_to_batch(Subject& node) {
  blocks(node, DimList(2, node.integer("block_size")), node.value(1), true);
}
void batch_to_space(Subject& node) {
  blocks(node, DimList(2, node.integer("block_size")), node.value(1), false);
}
void space_to_batch_nd(Subject& node) {
  node.agree_along(1, 2);
  bool known = false;
  const DimList block = block_shape(node, known);
  if (known) blocks(node, block, node.value(2), true);
}
void batch_to_space_nd(Subject& node) {
  node.agree_along(1, 2);
  bool known = false;
  const DimList block = block_shape(node, known);
  if (known) blocks(node, block, node.value(2), false);
}

namespace {

void depth_and_space(Subject& node, bool to_depth) {
  const std::string_view format = node.text("data_format", "NHWC");
  const size_t channels = format == "NHWC" ? 3 : 1, space = format == "NHWC" ? 1 : 2;
  const size_t rank = format == "NCHW_VECT_C" ? 5 : 4;
  const auto input = node.of_rank(0, rank);
  const int64_t block = node.integer("block_size", 1);
  if (!input) return;
  if (block < 1) return node.contradict("a block of " + std::to_string(block));
  Dims& dims = node.dims();
  DimList found = *input;
  for (size_t i = space; i < space + 2; ++i)
    found[i] = to_depth ? dims.floor_divide(found[i], block) : dims.multiply(found[i], block);
  const Dim area = dims.multiply(block, block);
  found[channels] =
      to_depth ? dims.multiply(found[channels], area) : dims.floor_divide(found[channels], area);
  node.give(0, found);
}

}  // namespace

void space_to_depth(Subject& node) { depth_and_space(node, true); }
void depth_to_space(Subject& node) { depth_and_space(node, false); }

void diag(Subject& node) {
  const Ranked known = node.shape(0);
  if (!known) return;
  DimList found(known->begin(), known->end());
  found.insert(found.end(), known->begin(), known->end());
  node.give(0, found);
}

void diag_part(Subject& node) {
  const Ranked known = node.shape(0);
  if (!known || known->size() % 2 != 0) return;
  DimList found;
  for (size_t i = 0; i < known->size() / 2; ++i)
    found.push_back(node.agree((*known)[i], (*known)[i + known->size() / 2]));
  node.give(0, found);
}

void matrix_diag(Subject& node) {
  const Ranked known = node.shape(0);
  if (!known || !node.at_least_rank(0, 1)) return;
  // Of the later versions only the plain case: the main diagonal of a square matrix.
  if (node.count() > 1 && (node.element(1) != 0 || node.element(2) != -1 || node.element(3) != -1)) return;
  DimList found(known->begin(), known->end());
  found.push_back(known->back());
  node.give(0, found);
}

void matrix_diag_part(Subject& node) {
  const Ranked known = node.shape(0);
  if (!known || !node.at_least_rank(0, 2)) return;
  if (node.count() > 1 && node.element(1) != 0) return;
  DimList found(known->begin(), known->end() - 1);
  const Dim last = known->back();
  found.back() = is_number(found.back()) && is_number(last) ? std::min(found.back(), last)
                 : found.back() == last                     ? last
                                                            : node.fresh(0);
  node.give(0, found);
}

}  // namespace gedit::shaping
