// Dropout by its form, whatever it keeps (docs/rules.md#optimize-any-dropout,
// docs/tensorflow.md#dropout). The spellings of
// TensorFlow 1.0 to 2.21: floor(keep + uniform), or uniform >= rate, times x / keep, or x * (1 / keep), or
// taken by a Select.
#include <algorithm>
#include <cmath>

#include "optimize/constant.h"
#include "optimize/rules.h"

namespace gedit::optimizing {
namespace {

constexpr int kMostSteps = 16;       // from a scale to what it is computed from
constexpr double kRoundings = 1e-2;  // by which a scale may miss what was dropped, in half precision, too

std::optional<double> number_of(const View& view, In in) {
  if (in.argument() || in.index != 0 || !view.net.is(in.node, OpKind::kConst)) return std::nullopt;
  const std::optional<Splat> splat = splat_of(view.net.def(in.node));
  return splat ? std::optional(splat->number) : std::nullopt;
}

// What a mask keeps: a tensor, and whether that is the share that is kept or the one that is dropped.
struct Threshold {
  In tensor;
  bool keeps = true;
};

std::optional<Threshold> threshold_of(const View& view, In mask) {
  for (int steps = 0; steps < kMostSteps && !mask.argument() && mask.index == 0; ++steps) {
    const std::span<const In> data = view.net.data(mask.node);
    const What what = view.net.what(mask.node);
    if (data.size() == 1) {
      mask = data[0];
      continue;
    }
    if (data.size() != 2) return std::nullopt;
    const bool first = view.values_of(data[0]) == Values::kUniform;
    const In other = data[first ? 1 : 0];
    if (!first && view.values_of(data[1]) != Values::kUniform) return std::nullopt;
    if (what == What::kAdd) return Threshold{other, true};
    const bool greater = what == What::kGreaterEqual || what == What::kGreater;
    return Threshold{other, greater != first};
  }
  return std::nullopt;
}

// Tensors that a scalar is computed from, of which nothing more is known.
void add_sources(const View& view, In in, std::vector<In>& sources) {
  std::vector<In> open{in};
  for (int steps = 0; steps < 4 * kMostSteps && !open.empty(); ++steps) {
    const In at = open.back();
    open.pop_back();
    const What what = at.argument() ? What::kOther : view.net.what(at.node);
    const bool computed = what == What::kSubtract || what == What::kDivide || what == What::kMultiply ||
                          what == What::kCast || what == What::kIdentity;
    if (!at.argument() && view.net.is(at.node, OpKind::kConst)) continue;
    if (!computed) {
      sources.push_back(at);
      continue;
    }
    for (const In& data : view.net.data(at.node)) open.push_back(data);
  }
}

// Whether the factor, or divisor, makes up for what is dropped.
bool makes_up(const View& view, In scale, bool divides, const Threshold& threshold) {
  const std::optional<double> number = number_of(view, scale), share = number_of(view, threshold.tensor);
  if (number && share) {
    const double kept = threshold.keeps ? *share : 1 - *share;
    return std::abs((divides ? *number : 1 / *number) - kept) <= kRoundings * std::abs(kept);
  }
  std::vector<In> of_scale, of_threshold;
  add_sources(view, scale, of_scale);
  add_sources(view, threshold.tensor, of_threshold);
  return !of_scale.empty() && of_scale.size() < kMostSteps && !of_threshold.empty() &&
         std::ranges::all_of(
             of_scale, [&](In in) { return std::ranges::find(of_threshold, in) != of_threshold.end(); });
}

// What was scaled up for the mask.
std::optional<In> unscaled(const View& view, In scaled, In mask) {
  const std::optional<Threshold> threshold = threshold_of(view, mask);
  if (!threshold || scaled.argument() || scaled.index != 0) return std::nullopt;
  const What what = view.net.what(scaled.node);
  const std::span<const In> data = view.net.data(scaled.node);
  if (data.size() != 2 || (what != What::kMultiply && what != What::kDivide)) return std::nullopt;
  if (makes_up(view, data[1], what == What::kDivide, *threshold)) return data[0];
  if (what == What::kMultiply && makes_up(view, data[0], false, *threshold)) return data[1];
  return std::nullopt;
}

}  // namespace

Decision decide_any_dropout(const View& view, Number n) {
  const What what = view.net.what(n);
  const std::span<const In> data = view.net.data(n);
  const auto masks = [&](In in) { return view.values_of(in) == Values::kMask; };
  std::optional<In> found;
  if (what == What::kMultiply && data.size() == 2 && masks(data[0]) != masks(data[1])) {
    const size_t mask = masks(data[0]) ? 0 : 1;
    found = unscaled(view, data[1 - mask], data[mask]);
  } else if ((what == What::kSelect || what == What::kSelectV2) && data.size() == 3 && masks(data[0]) &&
             view.values_of(data[2]) == Values::kZeros) {
    found = unscaled(view, data[1], data[0]);
  }
  if (!found) return {};
  Decision decision = replaced_by(*found, "drop", "dropout");
  decision.changes = "was dropout";
  return decision;
}

}  // namespace gedit::optimizing
