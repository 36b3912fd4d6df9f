// The families of rules, one function each; the table of rules.cc says which op has which. Each computes what
// the kernels under tensorflow/core/kernels/ compute on a CPU.
#pragma once

#include "fold/rule.h"

namespace gedit::folding {

// arithmetic.cc: one number of each operand, broadcast
void fold_add(FoldTask& task);
void fold_sub(FoldTask& task);
void fold_mul(FoldTask& task);
void fold_real_div(FoldTask& task);
void fold_truncate_div(FoldTask& task);
void fold_truncate_mod(FoldTask& task);
void fold_floor_div(FoldTask& task);
void fold_floor_mod(FoldTask& task);
void fold_squared_difference(FoldTask& task);
void fold_maximum(FoldTask& task);
void fold_minimum(FoldTask& task);
void fold_bitwise_and(FoldTask& task);
void fold_bitwise_or(FoldTask& task);
void fold_bitwise_xor(FoldTask& task);
void fold_add_n(FoldTask& task);
void fold_bias_add(FoldTask& task);

// unary.cc
void fold_neg(FoldTask& task);
void fold_abs(FoldTask& task);
void fold_sign(FoldTask& task);
void fold_square(FoldTask& task);
void fold_floor(FoldTask& task);
void fold_ceil(FoldTask& task);
void fold_relu(FoldTask& task);
void fold_relu6(FoldTask& task);
void fold_invert(FoldTask& task);
void fold_cast(FoldTask& task);

// compare.cc
void fold_equal(FoldTask& task);
void fold_not_equal(FoldTask& task);
void fold_less(FoldTask& task);
void fold_less_equal(FoldTask& task);
void fold_greater(FoldTask& task);
void fold_greater_equal(FoldTask& task);
void fold_logical_and(FoldTask& task);
void fold_logical_or(FoldTask& task);
void fold_logical_not(FoldTask& task);

// reduce.cc
void fold_sum(FoldTask& task);
void fold_prod(FoldTask& task);
void fold_max(FoldTask& task);
void fold_min(FoldTask& task);
void fold_any(FoldTask& task);
void fold_all(FoldTask& task);
void fold_arg_max(FoldTask& task);
void fold_arg_min(FoldTask& task);

// views.cc: elements seen in another order
void fold_identity(FoldTask& task);
void fold_identity_n(FoldTask& task);
void fold_reshape(FoldTask& task);
void fold_expand_dims(FoldTask& task);
void fold_squeeze(FoldTask& task);
void fold_transpose(FoldTask& task);
void fold_broadcast_to(FoldTask& task);
void fold_tile(FoldTask& task);
void fold_reverse(FoldTask& task);
void fold_slice(FoldTask& task);
void fold_split(FoldTask& task);
void fold_split_v(FoldTask& task);
void fold_unpack(FoldTask& task);

// strided_slice.cc
void fold_strided_slice(FoldTask& task);

// joins.cc: elements of several tensors put together
void fold_concat(FoldTask& task);
void fold_concat_v2(FoldTask& task);
void fold_pack(FoldTask& task);
void fold_pad(FoldTask& task);
void fold_mirror_pad(FoldTask& task);
void fold_gather(FoldTask& task);
void fold_gather_v2(FoldTask& task);
void fold_gather_nd(FoldTask& task);
void fold_select(FoldTask& task);
void fold_select_v2(FoldTask& task);

// made.cc: elements that follow from sizes
void fold_fill(FoldTask& task);
void fold_zeros_like(FoldTask& task);
void fold_ones_like(FoldTask& task);
void fold_range(FoldTask& task);
void fold_one_hot(FoldTask& task);
void fold_where(FoldTask& task);
void fold_invert_permutation(FoldTask& task);
void fold_broadcast_args(FoldTask& task);
void fold_broadcast_gradient_args(FoldTask& task);
void fold_concat_offset(FoldTask& task);

}  // namespace gedit::folding
