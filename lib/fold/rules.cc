// The table of rules: which op is folded by which. What is not here is never folded.
#include "fold/rules.h"

#include <algorithm>
#include <array>

#include "fold/fold.h"

namespace gedit::folding {
namespace {

struct FoldFamily {
  FoldRule rule;
  std::string_view ops;  // between blanks
};

// Of ops that several releases have the kernels were compared (tests/interop/fold.py).
constexpr auto kFoldFamilies = std::to_array<FoldFamily>({
    {fold_abs, "Abs"},
    {fold_add, "Add AddV2"},
    {fold_add_n, "AddN"},
    {fold_all, "All"},
    {fold_any, "Any"},
    {fold_arg_max, "ArgMax"},
    {fold_arg_min, "ArgMin"},
    {fold_bias_add, "BiasAdd BiasAddV1"},
    {fold_bitwise_and, "BitwiseAnd"},
    {fold_bitwise_or, "BitwiseOr"},
    {fold_bitwise_xor, "BitwiseXor"},
    {fold_broadcast_args, "BroadcastArgs"},
    {fold_broadcast_gradient_args, "BroadcastGradientArgs"},
    {fold_broadcast_to, "BroadcastTo"},
    {fold_cast, "Cast"},
    {fold_ceil, "Ceil"},
    {fold_concat, "Concat"},
    {fold_concat_offset, "ConcatOffset"},
    {fold_concat_v2, "ConcatV2"},
    {fold_equal, "Equal"},
    {fold_expand_dims, "ExpandDims"},
    {fold_fill, "Fill"},
    {fold_floor, "Floor"},
    {fold_floor_div, "FloorDiv"},
    {fold_floor_mod, "FloorMod"},
    {fold_gather, "Gather"},
    {fold_gather_nd, "GatherNd"},
    {fold_gather_v2, "GatherV2"},
    {fold_greater, "Greater"},
    {fold_greater_equal, "GreaterEqual"},
    {fold_identity, "Identity PreventGradient Snapshot StopGradient"},
    {fold_identity_n, "IdentityN"},
    {fold_invert, "Invert"},
    {fold_invert_permutation, "InvertPermutation"},
    {fold_less, "Less"},
    {fold_less_equal, "LessEqual"},
    {fold_logical_and, "LogicalAnd"},
    {fold_logical_not, "LogicalNot"},
    {fold_logical_or, "LogicalOr"},
    {fold_max, "Max"},
    {fold_maximum, "Maximum"},
    {fold_min, "Min"},
    {fold_minimum, "Minimum"},
    {fold_mirror_pad, "MirrorPad"},
    {fold_mul, "Mul"},
    {fold_neg, "Neg"},
    {fold_not_equal, "NotEqual"},
    {fold_one_hot, "OneHot"},
    {fold_ones_like, "OnesLike"},
    {fold_pack, "Pack"},
    {fold_pad, "Pad PadV2"},
    {fold_prod, "Prod"},
    {fold_range, "Range"},
    {fold_real_div, "RealDiv"},
    {fold_relu, "Relu"},
    {fold_relu6, "Relu6"},
    {fold_reshape, "Reshape"},
    {fold_reverse, "ReverseV2"},
    {fold_select, "Select"},
    {fold_select_v2, "SelectV2"},
    {fold_sign, "Sign"},
    {fold_slice, "Slice"},
    {fold_split, "Split"},
    {fold_split_v, "SplitV"},
    {fold_square, "Square"},
    {fold_squared_difference, "SquaredDifference"},
    {fold_squeeze, "Squeeze"},
    {fold_strided_slice, "StridedSlice"},
    {fold_sub, "Sub"},
    {fold_sum, "Sum"},
    {fold_tile, "Tile"},
    {fold_transpose, "Transpose"},
    {fold_truncate_div, "Div TruncateDiv"},
    {fold_truncate_mod, "Mod TruncateMod"},
    {fold_unpack, "Unpack"},
    {fold_where, "Where"},
    {fold_zeros_like, "ZerosLike"},
});

constexpr auto kShapeReaders = std::to_array<std::string_view>({"Rank", "Shape", "ShapeN", "Size"});

struct FoldRow {
  std::string_view op;
  FoldRule rule;
};

std::vector<FoldRow> rows() {
  std::vector<FoldRow> found;
  for (const FoldFamily& family : kFoldFamilies) {
    for (size_t at = 0; at < family.ops.size();) {
      const size_t end = std::min(family.ops.find(' ', at), family.ops.size());
      found.push_back({family.ops.substr(at, end - at), family.rule});
      at = end + 1;
    }
  }
  std::sort(found.begin(), found.end(), [](const FoldRow& a, const FoldRow& b) { return a.op < b.op; });
  return found;
}

const std::vector<FoldRow>& table() {
  static const std::vector<FoldRow> sorted = rows();
  return sorted;
}

}  // namespace

FoldRule fold_rule_of(std::string_view op) {
  const auto& all = table();
  const auto found = std::lower_bound(
      all.begin(), all.end(), op, [](const FoldRow& row, std::string_view name) { return row.op < name; });
  return found != all.end() && found->op == op ? found->rule : nullptr;
}

bool is_foldable(std::string_view op) { return fold_rule_of(op) != nullptr; }

bool reads_shapes(std::string_view op) {
  return std::find(kShapeReaders.begin(), kShapeReaders.end(), op) != kShapeReaders.end();
}

std::vector<std::string_view> foldable_ops() {
  std::vector<std::string_view> ops(kShapeReaders.begin(), kShapeReaders.end());
  for (const FoldRow& row : table()) ops.push_back(row.op);
  std::sort(ops.begin(), ops.end());
  return ops;
}

}  // namespace gedit::folding
