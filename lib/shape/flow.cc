// Rules of loops and conditionals of version 1.
#include "shape/rules.h"

namespace gedit::shaping {

void pass_on(Subject& node) { node.give(0, node.fact(0)); }

void switch_both(Subject& node) {
  node.give(0, node.fact(0));
  node.give(1, node.fact(0));
}

void switch_n(Subject& node) {
  for (size_t i = 0; i < node.outputs.size(); ++i) node.give(i, node.fact(0));
}

namespace {

// What holds of both: the same dimension, or one that nobody knows.
ListId meet(Subject& node, ListId a, ListId b, bool shapes) {
  if (a == b) return a;
  if (a == kNoRank || b == kNoRank) return kNoRank;
  const auto x = node.dims().of(a), y = node.dims().of(b);
  if (x.size() != y.size()) return kNoRank;
  DimList found(x.begin(), x.end());
  for (size_t i = 0; i < x.size(); ++i) {
    const Dim own = shapes ? node.fresh(i) : kUnknown;
    if (x[i] != y[i] && x[i] != own) found[i] = own;
  }
  return node.list(found);
}

}  // namespace

// What comes around a loop and is not inferred yet is left out; it is asked again.
void merge(Subject& node) {
  node.give(1, kScalar);
  std::optional<Fact> both;
  for (size_t i = 0; i < node.count(); ++i) {
    if (i < node.awaited.size() && node.awaited[i]) continue;
    const Fact more = node.fact(i);
    if (!both) {
      both = more;
      continue;
    }
    both->shape = meet(node, both->shape, more.shape, true);
    if (both->extra == more.extra) continue;
    if (both->has_value() && more.has_value()) {
      const ListId elements = meet(node, both->list(), more.list(), false);
      both->extra = elements == kNoRank ? 0 : 2 * elements;
      bool any = false;
      for (const Dim element : node.dims().of(elements)) any = any || element != kUnknown;
      if (!any) both->extra = 0;
    } else if (both->has_handle() && more.has_handle()) {
      both->extra = handled(kScalar, meet(node, both->list(), more.list(), true)).extra;
    } else {
      both->extra = 0;
    }
  }
  if (both) node.give(0, *both);
}

}  // namespace gedit::shaping
