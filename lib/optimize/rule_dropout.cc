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

constexpr int kMostSteps = 16;       // from a mask to what it is made of
constexpr int kMostDepth = 8;        // from a scale to what it is computed from
constexpr double kRoundings = 1e-2;  // by which a scale may miss what was dropped, in half precision, too

std::optional<double> number_of(const View& view, In in) {
  const Number from = view.const_of(in);
  if (from == In::kArgument) return std::nullopt;
  const std::optional<Splat> splat = splat_of(view.net.def(from));
  return splat ? std::optional(splat->number) : std::nullopt;
}

bool holds_fractions(DType type) {
  return type == DType::kFloat || type == DType::kDouble || type == DType::kHalf || type == DType::kBfloat16;
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

// A scalar as offset + factor * source, or as one divided by that.
struct Form {
  double offset = 0, factor = 0;
  In source{};
  bool inverse = false;

  bool is_number() const { return factor == 0; }
};

std::optional<Form> sum_of(const Form& a, const Form& b, double sign) {
  if (a.inverse || b.inverse || (!a.is_number() && !b.is_number() && a.source != b.source))
    return std::nullopt;
  return Form{a.offset + sign * b.offset, a.factor + sign * b.factor, a.is_number() ? b.source : a.source};
}

std::optional<Form> inverted(Form form) {
  if (!form.is_number()) {
    form.inverse = !form.inverse;
    return form;
  }
  if (form.offset == 0) return std::nullopt;
  return Form{1 / form.offset};
}

std::optional<Form> product_of(const Form& a, const Form& b) {
  if (!a.is_number() && !b.is_number()) return std::nullopt;
  Form form = a.is_number() ? b : a;
  double by = a.is_number() ? a.offset : b.offset;
  if (form.inverse) {
    if (by == 0) return std::nullopt;
    by = 1 / by;
  }
  form.offset *= by;
  form.factor *= by;
  return form;
}

std::optional<Form> form_of(const View& view, In in, int depth = 0) {
  if (const std::optional<double> number = number_of(view, in)) return Form{*number};
  const Form itself{0, 1, in};
  if (in.argument() || in.index != 0 || depth == kMostDepth) return itself;
  const What what = view.net.what(in.node);
  const std::span<const In> data = view.net.data(in.node);
  if (data.size() == 1 && (what == What::kIdentity || what == What::kCast)) {
    const DType type = base_type(view.net.type(in)), from = base_type(view.net.type(data[0]));
    return holds_fractions(type) && holds_fractions(from) ? form_of(view, data[0], depth + 1) : itself;
  }
  const bool computed =
      what == What::kAdd || what == What::kSubtract || what == What::kMultiply || what == What::kDivide;
  if (data.size() != 2 || !computed) return itself;
  const std::optional<Form> a = form_of(view, data[0], depth + 1), b = form_of(view, data[1], depth + 1);
  std::optional<Form> made;
  if (!a || !b) {
    made = std::nullopt;
  } else if (what == What::kAdd || what == What::kSubtract) {
    made = sum_of(*a, *b, what == What::kAdd ? 1 : -1);
  } else if (what == What::kMultiply) {
    made = product_of(*a, *b);
  } else if (const std::optional<Form> by = inverted(*b)) {
    made = product_of(*a, *by);
  }
  return made ? made : itself;
}

// Whether the factor, or divisor, makes up for what is dropped.
bool makes_up(const View& view, In scale, bool divides, const Threshold& threshold) {
  std::optional<Form> by = form_of(view, scale), kept = form_of(view, threshold.tensor);
  if (by && !divides) by = inverted(*by);
  if (kept && !threshold.keeps) kept = sum_of({1}, *kept, -1);
  if (!by || !kept || by->is_number() != kept->is_number() || by->inverse || kept->inverse) return false;
  if (!by->is_number() && by->source != kept->source) return false;
  const double most = kRoundings * std::max(std::abs(kept->offset), std::abs(kept->factor));
  return std::abs(by->offset - kept->offset) <= most && std::abs(by->factor - kept->factor) <= most;
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
