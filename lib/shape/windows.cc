// Rules of windows that slide over a tensor: convolutions, pools, patches, and of their quantized kin.
#include <algorithm>
#include <array>

#include "shape/rules.h"

namespace gedit::shaping {
namespace {

// Where batch, channels and space are in a data format.
struct Layout {
  size_t batch = 0, channels = 0, rank = 0;
  std::vector<size_t> space;
  bool packed = false;  // NCHW_VECT_C: channels come in fours, which stand last
};
Layout layout_of(std::string_view format, size_t dimensions) {
  Layout layout;
  layout.packed = format == "NCHW_VECT_C";
  const bool first = format.starts_with("NC");
  layout.rank = dimensions + 2 + (layout.packed ? 1 : 0);
  layout.channels = first ? 1 : dimensions + 1;
  for (size_t i = 0; i < dimensions; ++i) layout.space.push_back(i + (first ? 2 : 1));
  return layout;
}

struct Window {
  Dim size = kUnknown;
  int64_t stride = 1, dilation = 1, before = 0, after = 0;
  bool may_stick_out = false;  // rounded towards zero, as kernels do: one by less than two strides is nowhere
};

Dim windows_in(Subject& node, Dim input, const Window& window) {
  Dims& dims = node.dims();
  if (window.stride <= 0 || window.dilation <= 0) {
    node.contradict("a window that goes on by " + std::to_string(window.stride));
    return kUnknown;
  }
  const std::string_view padding = node.text("padding");
  if (padding == "SAME") return dims.ceil_divide(input, window.stride);
  if (padding != "VALID" && padding != "EXPLICIT") return kUnknown;
  const Dim reach = dims.add(dims.multiply(dims.subtract(window.size, 1), window.dilation), 1);
  const Dim padded = dims.add(input, window.before + window.after);
  const Dim left = dims.subtract(padded, reach);
  if (is_number(left) && left < 0) {
    if (window.may_stick_out && (left + window.stride) / window.stride == 0) return 0;
    node.contradict("a window of " + Subject::shown(reach) + " over " + Subject::shown(padded));
    return kUnknown;
  }
  return dims.size(dims.floor_divide(dims.add(left, window.stride), window.stride));
}

// The window along axis `axis`, whose size is known; attributes tell the rest, by axis of the input.
Window window_of(Subject& node, Dim size, size_t axis) {
  const auto at = [&](std::string_view key) {
    const std::vector<int64_t> all = node.integers(key);
    return axis < all.size() ? all[axis] : 1;
  };
  Window window{size, at("strides"), at("dilations")};
  const std::vector<int64_t> paddings = node.integers("explicit_paddings");
  if (node.text("padding") == "EXPLICIT" && 2 * axis + 1 < paddings.size()) {
    window.before = paddings[2 * axis];
    window.after = paddings[2 * axis + 1];
  }
  return window;
}

Dim or_fresh(Subject& node, Dim dim, uint64_t number) { return dim == kUnknown ? node.fresh(number) : dim; }

// Kernels dilate height and width of Conv3D each by its own, the shape function by the other's: what both
// say, or nothing.
Dim windows_of_both(Subject& node, Dim input, Window window, size_t axis, size_t other) {
  const Dim ran = windows_in(node, input, window);
  window.dilation = window_of(node, window.size, other).dilation;
  const Dim inferred = windows_in(node, input, window);
  return is_number(ran) && is_number(inferred) && ran != inferred ? node.fresh(axis) : ran;
}

void convolve(Subject& node, size_t dimensions) {
  const Layout layout = layout_of(node.text("data_format"), dimensions);
  const auto input = node.of_rank(0, layout.rank);
  const auto filter = node.of_rank(1, dimensions + 2 + (layout.packed ? 1 : 0));
  if (!input || !filter) return;
  DimList found(layout.rank);
  found[0] = (*input)[0];
  for (size_t i = 0; i < dimensions; ++i) {
    const size_t axis = layout.space[i];
    const Window window = window_of(node, (*filter)[layout.packed ? i + 2 : i], axis);
    const Dim size = dimensions == 3 && i > 0
                         ? windows_of_both(node, (*input)[axis], window, axis, layout.space[3 - i])
                         : windows_in(node, (*input)[axis], window);
    found[axis] = or_fresh(node, size, axis);
  }
  if (layout.packed) {
    found[1] = (*filter)[0];
    found[4] = 4;
  } else {
    found[layout.channels] = (*filter)[dimensions + 1];
    const Dim given = (*input)[layout.channels], taken = (*filter)[dimensions];
    if (is_number(given) && is_number(taken) && (taken == 0 ? given != 0 : given % taken != 0))
      node.contradict(Subject::shown(given) + " channels for a filter of " + Subject::shown(taken));
  }
  node.give(0, found);
}

void pool(Subject& node, size_t dimensions, const std::vector<int64_t>& sizes) {
  const Layout layout = layout_of(node.text("data_format"), dimensions);
  const auto input = node.of_rank(0, layout.rank);
  if (!input || sizes.size() < dimensions + 2) return;
  DimList found = *input;
  for (const size_t axis : layout.space)
    found[axis] = or_fresh(node, windows_in(node, found[axis], window_of(node, sizes[axis], axis)), axis);
  if (!layout.packed && sizes[layout.channels] != 1)
    found[layout.channels] = or_fresh(
        node,
        windows_in(node, found[layout.channels], window_of(node, sizes[layout.channels], layout.channels)),
        9);
  node.give(0, found);
}

}  // namespace

void conv_2d(Subject& node) { convolve(node, 2); }
void conv_3d(Subject& node) { convolve(node, 3); }

void depthwise_conv(Subject& node) {
  const Layout layout = layout_of(node.text("data_format"), 2);
  const auto input = node.of_rank(0, 4), filter = node.of_rank(1, 4);
  if (!input || !filter) return;
  DimList found = *input;
  for (size_t i = 0; i < 2; ++i) {
    const size_t axis = layout.space[i];
    Window window = window_of(node, (*filter)[i], axis);
    found[axis] = or_fresh(node, windows_in(node, found[axis], window), axis);
  }
  const Dim channels = node.agree(found[layout.channels], (*filter)[2]);
  found[layout.channels] = or_fresh(node, node.dims().multiply(channels, (*filter)[3]), 9);
  node.give(0, found);
}

void dilation(Subject& node) {
  const auto input = node.of_rank(0, 4), filter = node.of_rank(1, 3);
  if (!input || !filter) return;
  const std::vector<int64_t> strides = node.integers("strides"), rates = node.integers("rates");
  if (strides.size() != 4 || rates.size() != 4) return;
  DimList found = *input;
  for (size_t axis = 1; axis < 3; ++axis) {
    const Window window{(*filter)[axis - 1], strides[axis], rates[axis], 0, 0, true};
    found[axis] = or_fresh(node, windows_in(node, found[axis], window), axis);
  }
  found[3] = node.agree(found[3], (*filter)[2]);
  node.give(0, found);
}

void pool_2d(Subject& node) { pool(node, 2, node.integers("ksize")); }
void pool_3d(Subject& node) { pool(node, 3, node.integers("ksize")); }

// Sizes and strides are inputs.
void pool_v2(Subject& node) {
  const auto input = node.of_rank(0, 4);
  const Ranked sizes = node.value(1), strides = node.value(2);
  if (!input) return;
  if (!sizes || !strides || sizes->size() != 4 || strides->size() != 4)
    return node.give(0, node.fresh_list(4));
  const Layout layout = layout_of(node.text("data_format"), 2);
  DimList found = *input;
  for (const size_t axis : layout.space) {
    const bool known = is_number((*strides)[axis]);
    const Window window{(*sizes)[axis], known ? (*strides)[axis] : 1};
    found[axis] = or_fresh(node, known ? windows_in(node, found[axis], window) : kUnknown, axis);
  }
  node.give(0, found);
}

void pool_with_argmax(Subject& node) {
  pool_2d(node);
  node.give(1, node.outputs[0].shape);
}

void sizes_of_first(Subject& node) { node.give(0, node.shape_from(0)); }
void sizes_of_second(Subject& node) { node.give(0, node.shape_from(1)); }

void sizes_input_gradient(Subject& node) {
  const Ranked gradient = node.shape(2);
  const Ranked sizes = node.shape(0);
  ListId found = node.shape_from(0);
  // Sizes that are two stand for height and width alone.
  const bool space_alone = sizes && sizes->size() == 1 && sizes->front() == 2;
  if (found != kNoRank && !space_alone) return node.give(0, found);
  if (!gradient || gradient->size() != 4) return;
  DimList shape(4);
  const Layout layout = layout_of(node.text("data_format"), 2);
  shape[0] = gradient->front();
  const Ranked filter = node.shape(1), two = node.value(0);
  shape[layout.channels] = filter && filter->size() == 4 ? (*filter)[2] : node.fresh(3);
  for (size_t i = 0; i < 2; ++i) {
    const Dim size = two && two->size() == 2 ? (*two)[i] : kUnknown;
    shape[layout.space[i]] = node.dims().never_negative(size) ? size : node.fresh(10 + i);
  }
  node.give(0, shape);
}

namespace {

void minimum_and_maximum(Subject& node) {
  node.give(1, kScalar);
  node.give(2, kScalar);
}

}  // namespace

void quantized_conv(Subject& node) {
  conv_2d(node);
  minimum_and_maximum(node);
}
void quantized_depthwise_conv(Subject& node) {
  depthwise_conv(node);
  minimum_and_maximum(node);
}
void quantized_pool(Subject& node) {
  pool_2d(node);
  minimum_and_maximum(node);
}
void quantized_first(Subject& node) {
  same_shape(node);
  minimum_and_maximum(node);
}

namespace {

// The least and greatest values that inputs `from` and the next are: scalars, or with `axis` one for each of
// its parts, of which the shape function compares the latter.
ListId quantized_range(Subject& node, size_t from) {
  const int64_t axis = node.integer("axis", -1);
  if (axis < 0) {
    for (size_t input = from; input < from + 2; ++input) node.of_rank(input, 0);
    return kScalar;
  }
  const auto least = node.of_rank(from, 1), greatest = node.of_rank(from + 1, 1);
  const auto place = static_cast<size_t>(axis);
  if (!least || !greatest || !node.at_least_rank(0, place + 1)) return kNoRank;
  const Ranked parts = node.shape(0);
  const Dim size = parts ? node.agree((*parts)[place], greatest->front()) : greatest->front();
  return node.list({&size, 1});
}

// The range that inputs `from` and the next are is what outputs 1 and 2 are.
void with_range(Subject& node, size_t from) {
  same_shape(node);
  const ListId range = quantized_range(node, from);
  node.give(1, range);
  node.give(2, range);
}

}  // namespace

void quantize(Subject& node) { with_range(node, 1); }
void dequantize(Subject& node) {
  same_shape(node);
  quantized_range(node, 1);
}
void quantize_gradient(Subject& node) { with_range(node, 2); }
void quantized_reshape(Subject& node) {
  reshape(node);
  minimum_and_maximum(node);
}
void quantized_bias_add(Subject& node) {
  bias_add(node);
  minimum_and_maximum(node);
}
void quantized_mat_mul(Subject& node) {
  mat_mul(node);
  minimum_and_maximum(node);
}
void quantized_binary(Subject& node) {
  broadcast(node);
  minimum_and_maximum(node);
}

namespace {

void patches(Subject& node, size_t dimensions, const std::vector<int64_t>& rates) {
  const auto input = node.of_rank(0, dimensions + 2);
  const std::vector<int64_t> sizes = node.integers("ksizes"), strides = node.integers("strides");
  if (!input || sizes.size() != input->size() || strides.size() != sizes.size() ||
      rates.size() != sizes.size())
    return;
  DimList found = *input;
  for (size_t axis = 1; axis <= dimensions; ++axis) {
    const Window window{sizes[axis], strides[axis], rates[axis], 0, 0, true};
    found[axis] = or_fresh(node, windows_in(node, found[axis], window), axis);
    found.back() = node.dims().multiply(found.back(), sizes[axis]);
  }
  found.back() = or_fresh(node, found.back(), dimensions + 1);
  node.give(0, found);
}

}  // namespace

void image_patches(Subject& node) { patches(node, 2, node.integers("rates")); }
void volume_patches(Subject& node) { patches(node, 3, std::vector<int64_t>(5, 1)); }

}  // namespace gedit::shaping
