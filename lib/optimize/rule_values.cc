// What is known of values without computing them, and what follows: dropout that keeps all, and algebra that
// is exact for every number (docs/rules.md#optimize-dropout, docs/rules.md#optimize-algebra).
#include <algorithm>
#include <array>

#include "graph/frames.h"
#include "graph/types.h"
#include "optimize/constant.h"
#include "optimize/rules.h"

namespace gedit::optimizing {
namespace {

bool is_elementwise_pair(What what) { return what >= What::kAdd && what <= What::kExtremum; }

std::optional<Splat> constant(const View& view, In in) {
  const Number from = view.const_of(in);
  return from == In::kArgument ? std::nullopt : splat_of(view.net.def(from));
}

bool is_scalar(const View& view, In in) { return view.of(in).scalar; }

// What is known of the first two inputs of a node, looked for once.
struct Inputs {
  std::span<const In> data;
  View::Known first, second;

  Inputs(const View& view, Number n) : data(view.net.data(n)) {
    if (!data.empty()) first = view.of(data[0]);
    if (data.size() > 1) second = view.of(data[1]);
  }
};

bool gives_scalar(const View& view, Number n, const Inputs& inputs) {
  const ProofOp& op = view.net.op(n);
  if (op.kinds.has(OpKind::kConst)) return view.net.constant(n).scalar;
  const std::span<const In> data = inputs.data;
  if (!inputs.first.scalar || (data.size() > 1 && !inputs.second.scalar)) return false;
  if (data.size() > 2 && !std::ranges::all_of(data, [&](const In& in) { return is_scalar(view, in); }))
    return false;
  return is_elementwise_pair(view.net.what(n)) || view.net.what(n) == What::kCast ||
         op.kinds.has_any(OpKind::kKeepsShape | OpKind::kKeepsFirstShape | OpKind::kEnter);
}

// Many ops hand on what they read where that is what they would compute.
bool gives_memory(const View& view, Number n) {
  const ProofOp& op = view.net.op(n);
  if (op.gives_references || op.kinds.has(OpKind::kComputesAnew)) return op.gives_references;
  // What comes back in a loop is not known yet.
  return std::ranges::any_of(view.net.data(n), [&](const In& in) {
    return view.is_memory(in) || (!in.argument() && view.net.is(in.node, OpKind::kNextIteration));
  });
}

// The tensor of whose shape an integer vector tells.
std::optional<In> shape_source(const View& view, In shape) {
  if (shape.argument() || shape.index != 0) return std::nullopt;
  if (view.net.what(shape.node) != What::kShape || view.net.data(shape.node).size() != 1) return std::nullopt;
  return view.like_of(view.net.data(shape.node)[0]);
}

In shape_like(const View& view, Number n, const Inputs& inputs) {
  const In own{n, 0};
  const ProofOp& op = view.net.op(n);
  const What what = view.net.what(n);
  const auto& [data, first, second] = inputs;
  if (data.empty()) return own;
  if (op.kinds.has_any(OpKind::kKeepsShape | OpKind::kKeepsFirstShape) || what == What::kCast)
    return first.like;
  if (op.kinds.has(OpKind::kDrawsUniform) || what == What::kFill)
    return shape_source(view, data[0]).value_or(own);
  if (is_elementwise_pair(what) && data.size() == 2) {
    if (second.scalar || first.like == second.like) return first.like;
    if (first.scalar) return second.like;
  }
  return own;
}

Values values_of_const(ConstFacts constant) {
  return constant.ones             ? Values::kOnes
         : constant.zeros          ? Values::kZeros
         : constant.negative_zeros ? Values::kNegativeZeros
                                   : Values::kUnknown;
}

// Whether every one of them is compared so that the answer is yes.
bool always_true(const View& view, What what, In a, In b) {
  const auto number = [&](In in) -> std::optional<double> {
    if (const auto splat = constant(view, in)) return splat->number;
    if (view.values_of(in) == Values::kZeros) return 0;
    if (view.values_of(in) == Values::kOnes) return 1;
    return std::nullopt;
  };
  const std::optional<double> number_a = number(a), number_b = number(b);
  if (view.values_of(a) == Values::kUniform && number_b) {
    return (what == What::kGreaterEqual && *number_b <= 0) || (what == What::kGreater && *number_b < 0) ||
           ((what == What::kLess || what == What::kLessEqual) && *number_b >= 1);
  }
  if (view.values_of(b) == Values::kUniform && number_a) {
    return (what == What::kLessEqual && *number_a <= 0) || (what == What::kLess && *number_a < 0) ||
           ((what == What::kGreater || what == What::kGreaterEqual) && *number_a >= 1);
  }
  return false;
}

Values values_at(const View& view, Number n, const Inputs& inputs) {
  using enum Values;
  const ProofOp& op = view.net.op(n);
  const What what = view.net.what(n);
  if (op.kinds.has(OpKind::kConst)) return values_of_const(view.net.constant(n));
  if (op.kinds.has(OpKind::kEnter)) {
    const Number from = view.const_of({n, 0});
    return from == In::kArgument ? kUnknown : values_of_const(view.net.constant(from));
  }
  if (op.kinds.has(OpKind::kDrawsUniform)) return kUniform;
  if (what == What::kZerosLike) return kZeros;
  if (what == What::kOnesLike) return kOnes;
  // Of all others something is known where it is of what they read.
  const std::span<const In> data = inputs.data;
  const Values a = inputs.first.values, b = inputs.second.values;
  if (data.empty() || data.size() > 2 || (a == kUnknown && b == kUnknown)) return kUnknown;
  if (data.size() == 1) {
    if (op.conduct == Conduct::kPasses && !op.gives_references) return a;
    if (what == What::kCast) return a == kOnes || a == kZeros || a == kMask ? a : kUnknown;
    if (what != What::kFloor) return kUnknown;
    if (a == kShifted) return kMask;
    return a == kFromOne || a == kOnes ? kOnes : a == kZeros ? kZeros : kUnknown;
  }
  if (what == What::kFill) return b;
  const auto are = [&](Values x, Values y) { return (a == x && b == y) || (a == y && b == x); };
  if (what == What::kMultiply) return are(kOnes, kUniform) ? kUniform : are(kOnes, kOnes) ? kOnes : kUnknown;
  if (what == What::kAdd) {
    if (are(kZeros, kUniform)) return kUniform;
    if (are(kOnes, kUniform)) return kFromOne;
    if (a == kUniform || b == kUniform) return kShifted;
    return are(kOnes, kZeros) ? kOnes : kUnknown;
  }
  if (what == What::kSubtract)
    return a == kOnes && b == kZeros ? kOnes : a == kOnes && b == kOnes ? kZeros : kUnknown;
  if (what == What::kDivide)
    return a == kOnes && b == kOnes ? kOnes : a == kUniform && b == kOnes ? kUniform : kUnknown;
  if (what < What::kGreaterEqual || what > What::kLess) return kUnknown;
  if (always_true(view, what, data[0], data[1])) return kOnes;
  return a == kUniform || b == kUniform ? kMask : kUnknown;
}

// Whether x has the shape that it and the other one give together.
bool keeps_shape(const View& view, In x, In other) {
  return is_scalar(view, other) || view.like_of(x) == view.like_of(other);
}

bool is_float(DType type) {
  return type == DType::kFloat || type == DType::kDouble || type == DType::kHalf || type == DType::kBfloat16;
}

bool all_equal(const View& view, In in, double number) {
  const std::optional<Splat> splat = constant(view, in);
  return splat && splat->number == number;
}

}  // namespace

Number View::const_of(In in) const {
  constexpr int kMostLoops = 16;  // one in another
  for (int depth = 0; depth < kMostLoops && !in.argument() && in.index == 0; ++depth) {
    if (net.is(in.node, OpKind::kConst)) return in.node;
    if (!net.is(in.node, OpKind::kEnter) || net.data(in.node).size() != 1 ||
        !is_constant_enter(net.def(in.node)))
      break;
    in = net.data(in.node)[0];
  }
  return In::kArgument;
}

void look_at_values(View& view, Number n) {
  if (n >= view.known.size()) return;
  const Asks asks = view.net.asks(n);
  View::Known known{.memory = view.any_references && gives_memory(view, n), .like = {n, 0}};
  if (asks.values || asks.shape) {
    const Inputs inputs(view, n);
    if (asks.values) known.values = values_at(view, n, inputs);
    if (asks.shape) known.scalar = gives_scalar(view, n, inputs);
    if (asks.shape) known.like = shape_like(view, n, inputs);
  }
  view.known[n] = known;
}

// By ones, which something random gave, or which are 1.
Decision decide_dropout(const View& view, Number n) {
  const What what = view.net.what(n);
  const std::span<const In> data = view.net.data(n);
  const auto random_ones = [&](In in) {
    return view.values_of(in) == Values::kOnes && view.const_of(in) == In::kArgument;
  };
  const bool one_shape = view.subject.one_shape.contains(n);
  if (what == What::kMultiply && data.size() == 2) {
    for (const size_t k : {0U, 1U}) {
      if (random_ones(data[1 - k]) && (one_shape || keeps_shape(view, data[k], data[1 - k])))
        return replaced_by(data[k], "drop", "dropout", true);
    }
  }
  if (what == What::kDivide && data.size() == 2 && random_ones(data[1]) &&
      (one_shape || keeps_shape(view, data[0], data[1])))
    return replaced_by(data[0], "drop", "dropout", true);
  if ((what == What::kSelect || what == What::kSelectV2) && data.size() == 3 && random_ones(data[0])) {
    const bool shaped = what == What::kSelect || one_shape ||
                        (keeps_shape(view, data[1], data[0]) && keeps_shape(view, data[1], data[2]));
    if (shaped) return replaced_by(data[1], "drop", "dropout", true);
  }
  return {};
}

namespace {

const folding::ConstTensor* const_value(const View& view, In in) {
  const Number from = view.const_of(in);
  return from == In::kArgument ? nullptr : view.subject.constant(from);
}

// What two Transposes leave as it was.
std::optional<In> turned_back(const View& view, Number n) {
  const In inner = view.net.data(n)[0];
  if (inner.argument() || inner.index != 0 || view.net.what(inner.node) != What::kTranspose)
    return std::nullopt;
  const std::span<const In> within = view.net.data(inner.node);
  if (within.size() != 2) return std::nullopt;
  const folding::ConstTensor *first = const_value(view, within[1]),
                             *second = const_value(view, view.net.data(n)[1]);
  if (first == nullptr || second == nullptr || !folding::turn_back(*first, *second)) return std::nullopt;
  return within[0];
}

// A Reshape of what a Reshape gives to nobody else: it reads what that reads.
Decision reshaped_at_once(const View& view, Number n) {
  const std::span<const In> data = view.net.data(n);
  const In inner = data[0];
  if (inner.argument() || inner.index != 0 || view.net.what(inner.node) != What::kReshape ||
      !view.flow.read_once(inner.node) || view.subject.is_kept(inner.node) ||
      view.subject.is_untouched(inner.node) || !view.net.controls(inner.node).empty() ||
      view.net.data(inner.node).size() != 2 || view.net.device(inner.node) != view.net.device(n))
    return {};
  const In from = view.net.data(inner.node)[0], shape = view.net.data(inner.node)[1];
  // The inner one is not there where its shape is not.
  if (!view.whens.implies(view.whens.both(view.whens.of(from), view.whens.of(data[1])), view.whens.of(shape)))
    return {};
  Decision decision;
  decision.becomes = std::string(view.net.def(n));
  decision.inputs.assign(view.net.inputs(n).begin(), view.net.inputs(n).end());
  decision.inputs[0] = from;
  view.subject.assume(inner, from);
  view.subject.give_reason(inner.node, {"algebra", "nodes"});
  view.subject.learns_more = true;
  return decision;
}

}  // namespace

Decision decide_algebra(const View& view, Number n) {
  const What what = view.net.what(n);
  const std::span<const In> data = view.net.data(n);
  const auto same_as = [](In in) { return replaced_by(in, "algebra", "nodes", true); };
  if (!data.empty() && view.subject.same_shape.contains(n)) return same_as(data[0]);
  const auto producer = [&](What of) -> std::optional<In> {
    if (data[0].argument() || data[0].index != 0 || view.net.what(data[0].node) != of) return std::nullopt;
    return view.net.data(data[0].node).size() == 1 ? std::optional(view.net.data(data[0].node)[0])
                                                   : std::nullopt;
  };
  if (data.size() == 1) {
    const std::string_view def = view.net.def(n);
    if (folding::undoes_itself(view.net.op(n).kinds, def)) {
      const std::optional<In> twice = producer(what);
      return twice ? same_as(*twice) : Decision();
    }
    if (what == What::kCast && type_attr(def, "SrcT") && type_attr(def, "SrcT") == type_attr(def, "DstT"))
      return same_as(data[0]);
    return what == What::kAddN ? same_as(data[0]) : Decision();
  }
  if (data.size() == 2 && what == What::kSplit && view.net.outputs(n) == 1) return same_as(data[1]);
  if (data.size() == 2 && what == What::kTranspose) {
    const folding::ConstTensor* by = const_value(view, data[1]);
    if (by != nullptr && folding::moves_no_axis(*by)) return same_as(data[0]);
    const std::optional<In> twice = turned_back(view, n);
    return twice ? same_as(*twice) : Decision();
  }
  if (data.size() == 2) {
    const bool counts =
        what == What::kMultiply || what == What::kDivide || what == What::kAdd || what == What::kSubtract;
    for (size_t k = 0; k < 2 && counts; ++k) {
      const In x = data[k], other = data[1 - k];
      const Values values = view.values_of(other);
      if (values == Values::kUnknown) continue;
      const bool ones = values == Values::kOnes, zeros = values == Values::kZeros,
                 negative_zeros = values == Values::kNegativeZeros;
      if ((!ones && !zeros && !negative_zeros) || !keeps_shape(view, x, other)) continue;
      const DType type = type_attr(view.net.def(n), "T").value_or(DType::kInvalid);
      const bool whole = type == DType::kInt32 || type == DType::kInt64;
      if (!whole && !is_float(type)) continue;
      if (what == What::kMultiply && ones) return same_as(x);
      if (what == What::kAdd && (whole ? zeros : negative_zeros)) return same_as(x);
      if (k == 1) continue;
      if (what == What::kDivide && ones) return same_as(x);
      if (what == What::kSubtract && zeros) return same_as(x);
    }
    if (what == What::kConcatV2 || what == What::kConcat)
      return same_as(data[what == What::kConcat ? 1 : 0]);  // of one
    if (what == What::kReshape) {
      const std::optional<In> source = shape_source(view, data[1]);
      if (source && *source == view.like_of(data[0])) return same_as(data[0]);
      return reshaped_at_once(view, n);
    }
    if ((what == What::kPad && all_equal(view, data[1], 0)) ||
        (what == What::kTile && all_equal(view, data[1], 1)))
      return same_as(data[0]);
  }
  if (data.size() == 3 && what == What::kSlice && all_equal(view, data[1], 0) && all_equal(view, data[2], -1))
    return same_as(data[0]);
  return {};
}

}  // namespace gedit::optimizing
