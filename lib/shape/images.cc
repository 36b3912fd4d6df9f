// Rules of images and sound.
#include "shape/rules.h"

namespace gedit::shaping {
namespace {

Dim size_or_fresh(Subject& node, Dim size, uint64_t number) {
  return node.dims().never_negative(size) ? size : node.fresh(number);
}

Dim element_at(Subject& node, size_t input, size_t at) {
  const Ranked elements = node.value(input);
  return elements && at < elements->size() ? (*elements)[at] : kUnknown;
}

}  // namespace

void resize(Subject& node) {
  node.of_size(1, 2);
  const auto images = node.of_rank(0, 4);
  if (!images) return;
  node.give(0, {(*images)[0], size_or_fresh(node, element_at(node, 1, 0), 1),
                size_or_fresh(node, element_at(node, 1, 1), 2), (*images)[3]});
  node.give(1, kScalar);  // of a quantized one its least and greatest value
  node.give(2, kScalar);
}

void resize_grad(Subject& node) { node.give(0, node.shape_id(1)); }

// A text for each image, since releases that know batches of them.
void encode_images(Subject& node) {
  constexpr size_t kOfImage = 3;  // height, width, channels
  const Ranked images = node.shape(0);
  if (images && images->size() >= kOfImage)
    node.give(0, std::span<const Dim>(images->data(), images->size() - kOfImage));
}

void crop_and_resize(Subject& node) {
  node.of_size(3, 2);
  node.agree_along(1, 2);
  const auto images = node.of_rank(0, 4);
  const auto boxes = node.of_rank(1, 2);
  if (!images || !boxes) return;
  node.agree(boxes->back(), 4);
  node.give(0, {boxes->front(), size_or_fresh(node, element_at(node, 3, 0), 1),
                size_or_fresh(node, element_at(node, 3, 1), 2), (*images)[3]});
}

namespace {

void boxes_and_scores(Subject& node) {
  const Ranked boxes = node.shape(0);
  if (boxes && boxes->size() == 2) node.agree(boxes->back(), 4);
  node.agree_along(0, 1);
}

}  // namespace

void non_max_suppression(Subject& node) {
  boxes_and_scores(node);
  node.give(0, {node.fresh(0)});
}
void non_max_suppression_overlaps(Subject& node) {
  node.agree_along(0, 1);
  node.give(0, {node.fresh(0)});
}

namespace {

Dim selected(Subject& node) {
  if (!node.flag("pad_to_max_output_size")) return node.fresh(0);
  return size_or_fresh(node, node.element(2), 0);
}

}  // namespace

void non_max_suppression_v4(Subject& node) {
  boxes_and_scores(node);
  node.give(0, {selected(node)});
  node.give(1, kScalar);
}
void non_max_suppression_v5(Subject& node) {
  boxes_and_scores(node);
  const Dim count = selected(node);
  node.give(0, {count});
  node.give(1, {count});
  node.give(2, kScalar);
}

void combined_non_max_suppression(Subject& node) {
  const auto boxes = node.of_rank(0, 4);
  const auto scores = node.of_rank(1, 3);
  if (!boxes || !scores) return;
  const Dim batch = boxes->front(), each = node.element(2), total = node.element(3);
  Dim count = total;
  if (node.flag("pad_per_class")) {
    count = node.dims().minimum(total, node.dims().multiply(each, (*scores)[2]));
  }
  count = size_or_fresh(node, count, 0);
  node.give(0, {batch, count, 4});
  node.give(1, {batch, count});
  node.give(2, {batch, count});
  node.give(3, {batch});
}

void decode_image(Subject& node) {
  const int64_t channels = node.integer("channels");
  node.give(0, {node.fresh(0), node.fresh(1), channels > 0 ? channels : node.fresh(2)});
}
void decode_gif(Subject& node) { node.give(0, {node.fresh(0), node.fresh(1), node.fresh(2), 3}); }
void decode_any(Subject& node) {
  const int64_t channels = node.integer("channels");
  if (node.flag("expand_animations", true)) return;
  node.give(0, {node.fresh(0), node.fresh(1), channels > 0 ? channels : node.fresh(2)});
}

void sample_box(Subject& node) {
  node.give(0, {3});
  node.give(1, {3});
  node.give(2, {1, 1, 4});
}

namespace {

// `axes` last axes get the sizes of input 1; of the last one half and one is left where `half`.
void transformed(Subject& node, size_t axes, bool half) {
  const Ranked known = node.shape(0), sizes = node.value(1);
  if (!known || !node.at_least_rank(0, axes)) return;
  DimList found(known->begin(), known->end());
  for (size_t i = 0; i < axes; ++i) {
    Dim& dim = found[found.size() - axes + i];
    const Dim size = sizes && i < sizes->size() ? (*sizes)[i] : kUnknown;
    dim = size_or_fresh(node, size, i);
    if (half && i + 1 == axes && is_number(dim) && dim > 0) dim = dim / 2 + 1;
    if (half && i + 1 == axes && !is_number(dim)) dim = node.fresh(100);
  }
  node.give(0, found);
}
size_t axes_in(std::string_view op) { return op.ends_with("3D") ? 3 : op.ends_with("2D") ? 2 : 1; }

}  // namespace

void fft_real(Subject& node) { transformed(node, axes_in(node.op), true); }
void inverse_fft_real(Subject& node) { transformed(node, axes_in(node.op), false); }

void spectrogram(Subject& node) {
  const auto input = node.of_rank(0, 2);
  const int64_t window = node.integer("window_size"), stride = node.integer("stride");
  if (!input || window <= 1 || stride <= 0) return;
  int64_t bins = 1;
  while (bins < window && bins < (int64_t{1} << 40)) bins *= 2;
  Dims& dims = node.dims();
  Dim frames = (*input)[0];
  if (is_number(frames)) {
    frames = frames < window ? 0 : (frames - window) / stride + 1;
  } else {
    frames = dims.size(dims.add(dims.floor_divide(dims.subtract(frames, window), stride), 1));
  }
  node.give(0, {(*input)[1], frames, bins / 2 + 1});
}

void mfcc(Subject& node) {
  const auto spectrum = node.of_rank(0, 3);
  if (spectrum) node.give(0, {(*spectrum)[0], (*spectrum)[1], node.integer("dct_coefficient_count", 13)});
}

void decode_wav(Subject& node) {
  const int64_t samples = node.integer("desired_samples", -1),
                channels = node.integer("desired_channels", -1);
  node.give(0, {samples >= 0 ? samples : node.fresh(0), channels >= 0 ? channels : node.fresh(1)});
  node.give(1, kScalar);
}

}  // namespace gedit::shaping
