#include "edit/retargeting/replacements.h"

namespace gedit {
namespace {

// The table of docs/rules.md#retarget-replacements.
constexpr ReplacementRow kReplacements[] = {
    {.op = "AddV2", .replace = nullptr, .renamed = "Add"},
    {"BatchMatMulV2", replace_batch_mat_mul, true},
    {"BatchMatMulV3", replace_batch_mat_mul, true},
    {"BiasAdd", replace_bias_add, true},
    {"BiasAddGrad", replace_bias_add_grad, true},
    {"BroadcastTo", replace_broadcast_to},
    {"Conv2D", replace_explicit_paddings},
    {"DenseBincount", replace_dense_bincount, true},
    {"DepthwiseConv2dNative", replace_explicit_paddings},
    {"DisableCopyOnRead", replace_disable_copy},
    {"DivNoNan", replace_div_no_nan, true},
    {"Equal", replace_equal, true},
    {"FusedBatchNorm", replace_batch_norm, false, "exponential_avg_factor"},
    {"FusedBatchNormV2", replace_batch_norm, false, "exponential_avg_factor"},
    {"FusedBatchNormV3", replace_batch_norm, false, "exponential_avg_factor"},
    {"GatherV2", replace_gather_v2},
    {"LeakyRelu", replace_leaky_relu},
    {"MatrixDiagPartV2", replace_matrix_diag_part},
    {"MatrixDiagPartV3", replace_matrix_diag_part},
    {"MatrixDiagV2", replace_matrix_diag},
    {"MatrixDiagV3", replace_matrix_diag},
    {"MatrixSetDiagV2", replace_matrix_set_diag},
    {"MatrixSetDiagV3", replace_matrix_set_diag},
    {"NonMaxSuppressionV4", replace_suppression_v4},
    {"NonMaxSuppressionV5", replace_suppression_v5},
    {"NotEqual", replace_equal, true},
    {"ParseExampleV2", replace_parse_example_v2, true},
    {.op = "QuantizeAndDequantizeV4", .replace = nullptr, .renamed = "QuantizeAndDequantizeV2"},
    {"RegexFullMatch", replace_regex},
    {"SelectV2", replace_select_v2, true},
    {"StatelessRandomGetAlg", replace_draw_algorithm},
    {"StatelessRandomGetKeyCounter", replace_seed_key},
    {"StatelessRandomGetKeyCounterAlg", replace_seed_key},
    {"StatelessRandomNormalV2", replace_draw},
    {"StatelessRandomUniformFullIntV2", replace_draw},
    {"StatelessRandomUniformIntV2", replace_draw},
    {"StatelessRandomUniformV2", replace_draw},
    {"StatelessTruncatedNormalV2", replace_draw},
    {"StaticRegexFullMatch", replace_static_regex},
    {"TensorListGetItem", replace_list_shape},
    {"TensorListSetItem", replace_list_growth},
    {"TensorListStack", replace_list_shape},
    {"_FusedBatchNormEx", replace_fused_batch_norm_ex},
    {"_FusedConv2D", replace_fused_convolution},
    {"_FusedMatMul", replace_fused_mat_mul},
};

}  // namespace

const ReplacementRow* replacement_of(std::string_view op) {
  for (const ReplacementRow& row : kReplacements) {
    if (row.op == op) return &row;
  }
  return nullptr;
}

}  // namespace gedit
