// The families of rules, one function each; the table of rules.cc says which op has which.
// What they do is what tensorflow/core/framework/common_shape_fns.cc and tensorflow/core/ops/*.cc say.
#pragma once

#include "shape/rule.h"

namespace gedit::shaping {

// elementwise.cc
void same(Subject& node);        // output 0 is as input 0, elements and handles included
void same_shape(Subject& node);  // its shape alone
void same_all(Subject& node);    // output k as input k
void cast(Subject& node);        // elements, too, between integer types
void broadcast(Subject& node);   // of two inputs
void broadcast_three(Subject& node);
void compare(Subject& node);
void select(Subject& node);
void add_n(Subject& node);
void add_values(Subject& node);
void subtract_values(Subject& node);
void multiply_values(Subject& node);
void divide_values(Subject& node);
void floor_mod_values(Subject& node);
void truncate_mod_values(Subject& node);
void negate_values(Subject& node);
void maximum_values(Subject& node);
void minimum_values(Subject& node);
void second(Subject& node);   // output 0 is as input 1
void scalars(Subject& node);  // every output
void vectors(Subject& node);  // every output, of a size that is not known
void from_shape_attr(Subject& node);
void from_shapes_attr(Subject& node);
void as_first_two(Subject& node);  // what both inputs agree on
void bias_add(Subject& node);
void bias_add_grad(Subject& node);
void softmax_cross_entropy(Subject& node);
void sparse_softmax_cross_entropy(Subject& node);
void batch_norm(Subject& node);
void batch_norm_grad(Subject& node);
std::optional<DimList> broadcast_shapes(Subject& node, std::span<const Dim> a, std::span<const Dim> b);
ListId broadcast_ids(Subject& node, ListId a, ListId b);

// products.cc
void mat_mul(Subject& node);
void batch_mat_mul(Subject& node);
void batch_mat_mul_v1(Subject& node);
void einsum(Subject& node);
void reduce(Subject& node);
void reduce_product(Subject& node);
void arg_extreme(Subject& node);
void top_k(Subject& node);
void square_batches(Subject& node);
void sparse_dense_mat_mul(Subject& node);

// windows.cc
void conv_2d(Subject& node);
void conv_3d(Subject& node);
void depthwise_conv(Subject& node);
void dilation(Subject& node);
void pool_2d(Subject& node);
void pool_3d(Subject& node);
void pool_v2(Subject& node);
void pool_with_argmax(Subject& node);
void sizes_of_first(Subject& node);  // the shape that the elements of input 0 say
void sizes_of_second(Subject& node);
void sizes_input_gradient(Subject& node);  // the same, or what the last input implies
void quantized_conv(Subject& node);
void quantized_depthwise_conv(Subject& node);
void quantized_pool(Subject& node);
void quantized_first(Subject& node);  // as input 0, with minimum and maximum
void quantized_reshape(Subject& node);
void quantized_bias_add(Subject& node);
void quantized_mat_mul(Subject& node);
void quantized_binary(Subject& node);
void image_patches(Subject& node);
void volume_patches(Subject& node);
void quantize(Subject& node);    // as input 0, with minimum and maximum, along an axis if so wanted
void dequantize(Subject& node);  // as input 0; minimum and maximum are read
void quantize_gradient(Subject& node);

// arrange.cc
void reshape(Subject& node);
void squeeze(Subject& node);
void expand_dims(Subject& node);
void transpose(Subject& node);
void tile(Subject& node);
void pad(Subject& node);
void broadcast_to(Subject& node);
void space_to_batch(Subject& node);
void batch_to_space(Subject& node);
void space_to_batch_nd(Subject& node);
void batch_to_space_nd(Subject& node);
void space_to_depth(Subject& node);
void depth_to_space(Subject& node);
void diag(Subject& node);
void diag_part(Subject& node);
void matrix_diag(Subject& node);
void matrix_diag_part(Subject& node);
void invert_permutation(Subject& node);

// pieces.cc
void slice(Subject& node);
void strided_slice(Subject& node);
void strided_slice_grad(Subject& node);
void split(Subject& node);
void split_v(Subject& node);
void concat(Subject& node);
void concat_v2(Subject& node);
void concat_offset(Subject& node);
void pack(Subject& node);
void unpack(Subject& node);

// selecting.cc
void gather(Subject& node);
void gather_v2(Subject& node);
void gather_nd(Subject& node);
void resource_gather(Subject& node);
void resource_gather_nd(Subject& node);
void scatter_nd(Subject& node);
void one_hot(Subject& node);
void where(Subject& node);
void unique(Subject& node);
void unique_v2(Subject& node);
void list_diff(Subject& node);
void segment_sum(Subject& node);
void unsorted_segment_sum(Subject& node);
void sparse_segment(Subject& node);
void sparse_segment_rows(Subject& node);
void dynamic_stitch(Subject& node);
void dynamic_partition(Subject& node);
void in_top_k(Subject& node);

// sizes.cc
void constant(Subject& node);
void shape(Subject& node);
void size(Subject& node);
void rank(Subject& node);
void fill(Subject& node);
void range(Subject& node);
void lin_space(Subject& node);
void random(Subject& node);  // shape: the elements of input 0
void multinomial(Subject& node);
void broadcast_args(Subject& node);
void broadcast_gradient_args(Subject& node);
void placeholder(Subject& node);
void placeholder_with_default(Subject& node);
void ensure_shape(Subject& node);

// state.cc
void variable(Subject& node);
void legacy_variable(Subject& node);
void variable_handle(Subject& node);
void read_variable(Subject& node);
void variable_shape(Subject& node);
void assign(Subject& node);
void stack(Subject& node);
void tensor_array(Subject& node);
void tensor_array_read(Subject& node);
void tensor_array_gather(Subject& node);
void tensor_array_concat(Subject& node);
void tensor_array_handle(Subject& node);
void list_reserve(Subject& node);
void list_from_tensor(Subject& node);
void list_item(Subject& node);
void list_stack(Subject& node);
void list_concat(Subject& node);
void list_concat_v2(Subject& node);
void list_gather(Subject& node);
void list_push(Subject& node);
void list_pop(Subject& node);
void list_set(Subject& node);
void list_element_shape(Subject& node);
void queue(Subject& node);
void priority_queue(Subject& node);
void queue_reference(Subject& node);
void priority_queue_reference(Subject& node);
void dequeue(Subject& node);
void dequeue_many(Subject& node);
void dequeue_up_to(Subject& node);
void lookup(Subject& node);

// images.cc
void resize(Subject& node);
void resize_grad(Subject& node);
void crop_and_resize(Subject& node);
void non_max_suppression(Subject& node);
void non_max_suppression_overlaps(Subject& node);
void non_max_suppression_v4(Subject& node);
void non_max_suppression_v5(Subject& node);
void combined_non_max_suppression(Subject& node);
void encode_images(Subject& node);
void decode_image(Subject& node);
void decode_gif(Subject& node);
void decode_any(Subject& node);
void sample_box(Subject& node);
void fft_real(Subject& node);
void inverse_fft_real(Subject& node);
void mfcc(Subject& node);
void spectrogram(Subject& node);
void decode_wav(Subject& node);

// records.cc
void parse_example(Subject& node);
void parse_example_v2(Subject& node);
void parse_single_example(Subject& node);
void decode_raw(Subject& node);
void decode_csv(Subject& node);
void string_split(Subject& node);
void string_join(Subject& node);
void sparse_to_dense(Subject& node);
void sparse_reshape(Subject& node);
void sparse_reorder(Subject& node);
void sparse_fill_empty_rows(Subject& node);
void sparse_slice(Subject& node);
void sparse_concat(Subject& node);
void sparse_cross(Subject& node);
void reader_read(Subject& node);
void ctc_greedy(Subject& node);
void ctc_loss(Subject& node);

// recurrent.cc
void lstm_cell(Subject& node);
void block_lstm(Subject& node);
void gru_cell(Subject& node);
void cudnn_rnn(Subject& node);

// flow.cc
void pass_on(Subject& node);
void switch_both(Subject& node);
void switch_n(Subject& node);
void merge(Subject& node);

}  // namespace gedit::shaping
