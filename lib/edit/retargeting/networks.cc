// Replacements of convolutions and batch normalization, and of what grappler fuses of them.
#include <algorithm>
#include <iterator>

#include "edit/retargeting/replacements.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// Attributes of the node that the part of it has, too.
NodeAttrs attrs_of(const Site& site, const std::vector<std::string_view>& keys) {
  NodeAttrs attrs;
  for (const std::string_view key : keys) {
    if (const auto value = find_attr(site.node_def, key)) attrs.emplace_back(key, *value);
  }
  return attrs;
}

std::string float_attr(float value) {
  std::string bytes;
  append_tag(bytes, attr_field::kFloat, Wire::kFixed32);
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  return bytes;
}

// `parts` behind the product, the last one in the place of the node. They are fused_ops: BiasAdd or
// FusedBatchNorm, and an activation.
std::string unfold(Site& site, std::string_view product, const NodeAttrs& attrs, const NodeAttrs& layout) {
  const std::vector<std::string> parts = site.texts("fused_ops");
  const DType type = site.type("T");
  const size_t arguments = site.inputs.size() - 2;
  if (parts.empty() || parts.size() > 2) return "its fused_ops are not known";
  const bool bias = parts[0] == "BiasAdd", norm = parts[0] == "FusedBatchNorm";
  if ((!bias || arguments != 1) && (!norm || arguments != 4)) return "its fused_ops are not known";
  if (parts.size() == 2 && !is(parts[1], OpKind::kFusedActivation)) return "its fused_ops are not known";
  const std::string first = site.add_tensor(product, product, {site.inputs[0], site.inputs[1]}, attrs);
  std::vector<std::string> inputs{first};
  inputs.insert(inputs.end(), site.inputs.begin() + 2, site.inputs.end());
  NodeAttrs second = layout;
  second.emplace_back("T", type_value(type));
  if (norm) {
    second.emplace_back("epsilon", float_attr(site.number("epsilon", 0.0001F)));
    second.emplace_back("is_training", bool_value(false));
  }
  const std::string op = bias ? "BiasAdd" : "FusedBatchNorm";
  if (parts.size() == 1) {
    site.become({.op = op, .inputs = inputs, .attrs = second, .same_outputs = !norm});
    site.move_output(0, 0);
    return {};
  }
  const std::string sum = site.add_tensor(op, op, inputs, second);
  NodeAttrs last{{"T", type_value(type)}};
  if (parts[1] == "LeakyRelu") last.emplace_back("alpha", float_attr(site.number("leakyrelu_alpha", 0.2F)));
  site.become({.op = parts[1], .inputs = {sum}, .attrs = last});
  return {};
}

bool names_outputs(const Site& site, uint32_t first, uint32_t last) {
  for (uint32_t i = first; i <= last; ++i) {
    if (site.in.named(site.in.canonical(site.in.output(site.name, site.op, i)))) return true;
  }
  return false;
}

struct Norm {
  std::string_view op;
  uint32_t outputs;
  bool has_u;  // the attribute; else all is float32
};
constexpr Norm kNorms[] = {
    {"FusedBatchNormV3", 6, true}, {"FusedBatchNormV2", 5, true}, {"FusedBatchNorm", 5, false}};

const Norm* norm_of(const Site& site) { return std::ranges::find(kNorms, site.op, &Norm::op); }

// The newest of them, from the node's own on, that the release has.
const Norm& norm_taken(const Site& site) {
  return *std::find_if(norm_of(site), std::end(kNorms) - 1,
                       [&](const Norm& norm) { return site.in.takes(norm.op); });
}

DType norm_type(const Site& site) { return site.type(site.has("U") ? "U" : "T"); }

NodeAttrs norm_attrs(const Site& site, const Norm& norm) {
  NodeAttrs attrs = attrs_of(site, {"T", "U", "epsilon", "data_format", "is_training"});
  if (!norm.has_u) std::erase_if(attrs, [](const auto& attr) { return attr.first == "U"; });
  return attrs;
}

// Before 2.2 the mean and variance that a training normalization is given have to be empty.
std::string empty_vector(Site& site) {
  std::string proto;
  append_varint_field(proto, 1, static_cast<uint64_t>(norm_type(site)));
  append_bytes_field(proto, 2, shape_proto(Shape{{0}}));
  return site.add_const("empty", norm_type(site), proto);
}

bool is_empty(const KnownShape& known) { return known.shape && *known.shape == std::vector<int64_t>{0}; }

// In training with an exponential_avg_factor that is not 1: outputs 1 and 2 are means of what the node is
// given and of what the batch has. The node is its output 0 from now on.
std::string replace_averaging(Site& site, const Norm& taken) {
  const std::string_view op = taken.op;
  if (names_outputs(site, 1, 5)) return "a signature names its outputs";
  const float factor = site.number("exponential_avg_factor", 1);
  const DType type = norm_type(site);
  const NodeAttrs typed{{"T", type_value(type)}};
  const bool reads[] = {site.read(1), site.read(2)};
  const std::string empty = empty_vector(site);
  const std::string norm =
      site.add("FusedBatchNorm", op, {site.inputs[0], site.inputs[1], site.inputs[2], empty, empty},
               norm_attrs(site, taken));
  std::string means[2];
  if (reads[0] || reads[1]) {
    const std::string rest = site.add_const("rest", type, scalar_proto(type, 1.0F - factor));
    const std::string gain = site.add_const("factor", type, scalar_proto(type, factor));
    const auto product = [&](const std::string& a, const std::string& b) {
      return site.add_tensor("Mul", "Mul", {a, b}, typed);
    };
    for (uint32_t i = 0; i < 2; ++i) {
      if (!reads[i]) continue;
      const std::string old = product(site.inputs[3 + i], rest);
      const std::string fresh = product(site.in.output(norm, op, i + 1), gain);
      means[i] = site.add_tensor("Add", "Add", {old, fresh}, typed);
    }
  }
  site.become({.op = "Identity",
               .inputs = {site.in.output(norm, op, 0)},
               .attrs = {{"T", type_value(site.type("T"))}},
               .same_outputs = false});
  site.move_output(0, 0);
  for (uint32_t i = 1; i < taken.outputs; ++i) {
    if (i > 2) site.move_output(i, site.in.output(norm, op, i));
    if (i <= 2 && reads[i - 1]) site.move_output(i, means[i - 1]);
  }
  return {};
}

// Of a node in NCHW whose first input has other than four dimensions; 0: it is none, or that is not known.
size_t rank_of_channels_first(const Site& site) {
  if (site.inputs.empty() || site.text("data_format", "NHWC") != "NCHW") return 0;
  const Shape shape = site.shape(0).shape;
  return shape && shape->size() > 2 && shape->size() != 4 ? shape->size() : 0;
}

}  // namespace

std::string replace_batch_norm(Site& site, std::vector<std::string>& notes) {
  if (site.inputs.size() != 5) return "its inputs are not known";
  const Norm &own = *norm_of(site), &taken = norm_taken(site);
  const bool fewer = taken.outputs < own.outputs;
  const std::string format = site.text("data_format", "NHWC");
  if (fewer) {
    if (site.read(5)) return "its output 5 is read";
    if (format != "NHWC" && format != "NCHW") return "its data_format is " + format;
  }
  if (own.has_u && !taken.has_u && (site.type("T") != DType::kFloat || site.type("U") != DType::kFloat))
    return "its T and U are not float32";
  const bool training = site.flag("is_training", true);
  if (training && site.number("exponential_avg_factor", 1) != 1) return replace_averaging(site, taken);
  if (!training || (is_empty(site.shape(3)) && is_empty(site.shape(4)))) {
    std::vector<std::string_view> without{"exponential_avg_factor"};
    if (!taken.has_u) without.emplace_back("U");
    if (fewer) without.emplace_back("_output_shapes");
    site.rename_op(taken.op, without);
    return {};
  }
  // At factor 1 newer releases do not look at them.
  notes.push_back(std::string(taken.op) +
                  " in training gets means that are empty, as releases before 2.2 want them");
  const std::string empty = empty_vector(site);
  site.become({.op = std::string(taken.op),
               .inputs = {site.inputs[0], site.inputs[1], site.inputs[2], empty, empty},
               .attrs = norm_attrs(site, taken),
               .same_outputs = !fewer});
  for (uint32_t i = 0; i < taken.outputs; ++i) site.move_output(i, i);
  return {};
}

std::string replace_bias_add(Site& site, std::vector<std::string>&) {
  const size_t rank = rank_of_channels_first(site);
  if (rank == 0 || site.inputs.size() != 2) return "nothing stands in for that";
  std::vector<int64_t> sizes(rank - 1, 1);
  sizes[0] = -1;
  const auto count = static_cast<int64_t>(sizes.size());
  const std::string last = site.add_const("sizes", DType::kInt32, int_matrix_proto(sizes, {count}));
  const NodeAttrs typed{{"T", type_value(site.type("T"))}};
  NodeAttrs shaped = typed;
  shaped.emplace_back("Tshape", type_value(DType::kInt32));
  const std::string bias = site.add_tensor("Reshape", "Reshape", {site.inputs[1], last}, shaped);
  site.become({.op = "Add", .inputs = {site.inputs[0], bias}, .attrs = typed});
  return {};
}

std::string replace_bias_add_grad(Site& site, std::vector<std::string>&) {
  const size_t rank = rank_of_channels_first(site);
  if (rank == 0 || site.inputs.size() != 1) return "nothing stands in for that";
  std::vector<int64_t> axes;
  for (size_t i = 0; i < rank; ++i) {
    if (i != 1) axes.push_back(static_cast<int64_t>(i));
  }
  const auto count = static_cast<int64_t>(axes.size());
  const std::string all = site.add_const("axes", DType::kInt32, int_matrix_proto(axes, {count}));
  site.become({.op = "Sum",
               .inputs = {site.inputs[0], all},
               .attrs = {{"T", type_value(site.type("T"))}, {"Tidx", type_value(DType::kInt32)}}});
  return {};
}

std::string replace_explicit_paddings(Site& site, std::vector<std::string>&) {
  const std::vector<int64_t> paddings = site.integers("explicit_paddings");
  const std::string format = site.text("data_format", "NHWC");
  if (site.text("padding", "") != "EXPLICIT" || paddings.size() != 8 ||
      (format != "NHWC" && format != "NCHW"))
    return "nothing stands in for that";
  const std::string sizes = site.add_const("paddings", DType::kInt32, int_matrix_proto(paddings, {4, 2}));
  const std::string padded =
      site.add_tensor("Pad", "Pad", {site.inputs[0], sizes}, {{"T", type_value(site.type("T"))}});
  site.take_inputs({padded, site.inputs[1]}, "explicit_paddings", {{"padding", string_value("VALID")}});
  return {};
}

std::string replace_fused_convolution(Site& site, std::vector<std::string>&) {
  if (site.inputs.size() < 3 || site.text("filter_format", "HWIO") != "HWIO")
    return "its inputs are not known";
  if (int_attr(site.node_def, "num_host_args").value_or(0) != 0) return "it takes host_args";
  const NodeAttrs layout = attrs_of(site, {"data_format"});
  return unfold(site, "Conv2D",
                attrs_of(site, {"T", "strides", "use_cudnn_on_gpu", "padding", "explicit_paddings",
                                "data_format", "dilations"}),
                layout);
}

std::string replace_fused_mat_mul(Site& site, std::vector<std::string>&) {
  if (site.inputs.size() < 3) return "its inputs are not known";
  return unfold(site, "MatMul", attrs_of(site, {"transpose_a", "transpose_b", "T"}), {});
}

std::string replace_fused_batch_norm_ex(Site& site, std::vector<std::string>&) {
  const std::string activation = site.text("activation_mode", "Identity");
  if (activation != "Relu" && activation != "Identity") return "its activation_mode is not known";
  if (site.inputs.size() < 5 || site.inputs.size() > 6) return "its inputs are not known";
  if (names_outputs(site, 1, 5)) return "a signature names its outputs";
  const std::string norm =
      site.add("FusedBatchNorm", "FusedBatchNormV3", {site.inputs.begin(), site.inputs.begin() + 5},
               attrs_of(site, {"T", "U", "epsilon", "exponential_avg_factor", "data_format", "is_training"}));
  std::string value = site.in.output(norm, "FusedBatchNormV3", 0);
  const NodeAttrs typed{{"T", type_value(site.type("T"))}};
  if (site.inputs.size() == 6) value = site.add_tensor("Add", "Add", {value, site.inputs[5]}, typed);
  site.become({.op = activation, .inputs = {value}, .attrs = typed, .same_outputs = false});
  site.move_output(0, 0);
  for (uint32_t i = 1; i < 6; ++i) site.move_output(i, site.in.output(norm, "FusedBatchNormV3", i));
  return {};
}

}  // namespace gedit
