#include "fold/batch_norm.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>

#include "fold/affine.h"
#include "fold/elementwise.h"
#include "fold/rule.h"
#include "graph/node.h"

namespace gedit::folding {
namespace {

// A convolution or product: where its weights are, and in these the channels of what it gives.
struct Linear {
  std::string_view op;
  size_t inputs, rank;  // of its result
  size_t channel,
      channel_dims;  // of the weights: the first dimension of the channels, and how many are of them
};

constexpr auto kLinear = std::to_array<Linear>({
    {"Conv2D", 2, 4, 3, 1},
    {"Conv3D", 2, 5, 4, 1},
    {"DepthwiseConv2dNative", 2, 4, 2, 2},
    {"Conv2DBackpropInput", 3, 4, 2, 1},
    {"MatMul", 2, 2, 1, 1},
});
constexpr size_t kWeightsInput = 1;  // of all of them

struct Weights {
  NodeId node = kNoNode;
  ConstTensor value;
  uint64_t inner = 1;  // elements from one channel to the next
  Channels channels{};
};

float float_attr(std::string_view node_def, std::string_view key, float otherwise) {
  const auto attr = find_attr(node_def, key);
  if (!attr) return otherwise;
  for (Fields fields(*attr); fields.next();) {
    if (fields->number == attr_field::kFloat && fields->wire == Wire::kFixed32) {
      uint32_t bits = 0;
      fields->value.copy(reinterpret_cast<char*>(&bits), sizeof bits);
      otherwise = std::bit_cast<float>(bits);
    }
  }
  return otherwise;
}

// The nodes behind a linear one that give, for each channel, a multiple of what it gives plus a number.
class NormChain {
 public:
  NormChain(const NormSubject& subject, NodeId linear, const Linear& kind)
      : subject_(subject), graph_(subject.graph), linear_(linear), kind_(kind) {}

  std::optional<FoldedNorm> fold() {
    if (!find_weights()) return std::nullopt;
    Affine affine(weights_.channels.number);
    size_t whole = 0;  // of the chain, up to the last node that counts
    for (NodeId before = linear_, at = only_reader(before); at != kNoNode;
         before = at, at = only_reader(at)) {
      const bool moves = only_moves(at, before);
      if (!moves && !apply(at, before, affine)) break;
      chain_.push_back({at, moves});
      if (!moves) whole = chain_.size();
    }
    chain_.resize(whole);
    if (chain_.empty() || !affine.scales() || !affine.finite()) return std::nullopt;
    return rewritten(affine);
  }

 private:
  struct Link {
    NodeId node;
    bool moves;  // elements alone, and stays
  };

  std::string_view bytes(NodeId id) const { return graph_.bytes(id); }
  std::string_view format() const { return first_is_channel() ? "NCHW" : "NHWC"; }
  bool first_is_channel() const { return weights_.channels.axis + 1 != weights_.channels.rank; }

  bool is_output_of(std::string_view text, NodeId id) const {
    const Input input = parse_input(text);
    return !input.control && input.index() == 0 && input.node == graph_.name(id);
  }

  // The node that reads output 0, if it is the only one, reads it once, and nobody else asks for it.
  NodeId only_reader(NodeId id) const {
    const auto readers = subject_.consumers.of(id);
    if (readers.size() != 1 || subject_.kept(id)) return kNoNode;
    size_t reads = 0, others = 0;
    each_input(bytes(readers[0]), [&](std::string_view text) {
      is_output_of(text, id) ? ++reads : others += parse_input(text).node == graph_.name(id) ? 1 : 0;
    });
    return reads == 1 && others == 0 ? readers[0] : kNoNode;
  }

  // Whether somebody reads another output than 0, or asks for it.
  bool gives_more(NodeId id) const {
    bool more = subject_.kept(id);
    for (const NodeId reader : subject_.consumers.of(id)) {
      each_input(bytes(reader), [&](std::string_view text) {
        const Input input = parse_input(text);
        more = more || (!input.control && input.index() != 0 && input.node == graph_.name(id));
      });
    }
    return more;
  }

  bool find_weights() {
    const std::string_view node = bytes(linear_);
    const auto inputs = input_views(node);
    if (inputs.size() < kind_.inputs || inputs[kWeightsInput].starts_with('^')) return false;
    weights_.node = const_behind(graph_, subject_.names, inputs[kWeightsInput]);
    const auto value = weights_.node == kNoNode ? std::nullopt : const_value(bytes(weights_.node));
    if (!value || value->count() == 0 || value->rank() != kind_.rank) return false;
    if (value->dtype() != DType::kFloat && value->dtype() != DType::kDouble) return false;
    if (type_attr(node, "T") != value->dtype()) return false;
    const FoldTask attrs(node, {}, 0);
    const size_t channel = kind_.op == "MatMul" && attrs.flag("transpose_b", false) ? 0 : kind_.channel;
    uint64_t number = 1;
    for (size_t i = channel; i < value->rank(); ++i) {
      const auto size = static_cast<uint64_t>(value->shape()[i]);
      (i < channel + kind_.channel_dims ? number : weights_.inner) *= size;
    }
    const bool spatial = kind_.op != "MatMul";
    const std::string_view last = kind_.rank == 5 ? "NDHWC" : "NHWC";
    const std::string_view written = spatial ? attrs.text("data_format", last) : last;
    if (written != last && (written != "NCHW" || kind_.rank != 4)) return false;
    weights_.value = *value;
    weights_.channels = {kind_.rank, written == last ? kind_.rank - 1 : 1, number};
    return true;
  }

  // BatchToSpaceND that leaves the channels where they are.
  bool only_moves(NodeId id, NodeId before) const {
    if (graph_.op(id) != "BatchToSpaceND" || kind_.rank != 4 || first_is_channel()) return false;
    const auto inputs = input_views(bytes(id));
    if (inputs.size() < 3 || !is_output_of(inputs[0], before)) return false;
    const NodeId block = const_behind(graph_, subject_.names, inputs[1]);
    const auto value = block == kNoNode ? std::nullopt : const_value(bytes(block));
    return value && value->count() <= kind_.rank - 2;
  }

  // The numbers of an input, by channel; `vector` where it has to be one of all channels.
  std::optional<std::vector<double>> numbers(std::string_view input, bool vector) const {
    const auto value = constant_in_double(graph_, subject_.names, input);
    if (!value) return std::nullopt;
    if (!vector) return by_channel(*value, weights_.channels);
    if (value->rank() != 1 || value->count() != weights_.channels.number) return std::nullopt;
    return by_channel(*value, {1, 0, weights_.channels.number});
  }

  // Whether the node is one of the pattern; `affine` is then what it and those before it do.
  bool apply(NodeId id, NodeId before, Affine& affine) const {
    const std::string_view node = bytes(id), op = graph_.op(id);
    const auto inputs = input_views(node);
    for (const std::string_view input : inputs) {
      if (input.starts_with('^')) return false;
    }
    if (type_attr(node, "T") != weights_.value.dtype()) return false;
    if (op == "FusedBatchNorm" || op == "FusedBatchNormV2" || op == "FusedBatchNormV3")
      return apply_fused(id, before, inputs, affine);
    if (op == "BatchNormWithGlobalNormalization") return apply_global(node, before, inputs, affine);
    if (inputs.size() != 2) return false;
    const bool first = is_output_of(inputs[0], before);
    if (op == "BiasAdd") {
      const FoldTask attrs(node, {}, 0);
      const auto bias = first ? numbers(inputs[1], true) : std::nullopt;
      if (!bias || attrs.text("data_format", "NHWC") != format()) return false;
      affine.add(*bias);
      return true;
    }
    const auto other = numbers(inputs[first ? 1 : 0], false);
    if (!other) return false;
    if (op == "Add" || op == "AddV2") {
      affine.add(*other);
    } else if (op == "Mul") {
      affine.multiply(*other);
    } else if (op == "Sub" && first) {
      affine.add(*other, -1.0);
    } else if (op == "Sub") {
      affine.multiply({-1.0});
      affine.add(*other);
    } else {
      return false;
    }
    return true;
  }

  bool apply_fused(NodeId id, NodeId before, const std::vector<std::string_view>& inputs,
                   Affine& affine) const {
    const std::string_view node = bytes(id);
    const FoldTask attrs(node, {}, 0);
    const std::string_view last = kind_.rank == 5 ? "NDHWC" : "NHWC";
    const std::string_view format = attrs.text("data_format", "NHWC");
    if (inputs.size() != 5 || !is_output_of(inputs[0], before) || attrs.flag("is_training", true) ||
        kind_.rank < 4 || format != (first_is_channel() ? "NCHW" : last) || gives_more(id)) {
      return false;
    }
    const auto scale = numbers(inputs[1], true), offset = numbers(inputs[2], true),
               mean = numbers(inputs[3], true), variance = numbers(inputs[4], true);
    if (!scale || !offset || !mean || !variance) return false;
    normalize(affine, *mean, *variance, float_attr(node, "epsilon", 0.0001F), &*scale, *offset);
    return true;
  }

  bool apply_global(std::string_view node, NodeId before, const std::vector<std::string_view>& inputs,
                    Affine& affine) const {
    if (inputs.size() != 5 || !is_output_of(inputs[0], before) || kind_.rank != 4 || first_is_channel())
      return false;
    const FoldTask attrs(node, {}, 0);
    const auto mean = numbers(inputs[1], true), variance = numbers(inputs[2], true),
               beta = numbers(inputs[3], true), gamma = numbers(inputs[4], true);
    if (!mean || !variance || !beta || !gamma) return false;
    const bool scaled = attrs.flag("scale_after_normalization", false);
    normalize(affine, *mean, *variance, float_attr(node, "variance_epsilon", 0), scaled ? &*gamma : nullptr,
              *beta);
    return true;
  }

  static void normalize(Affine& affine, const std::vector<double>& mean, const std::vector<double>& variance,
                        double epsilon, const std::vector<double>* scale, const std::vector<double>& offset) {
    std::vector<double> factors;
    for (size_t i = 0; i < variance.size(); ++i)
      factors.push_back((scale == nullptr ? 1.0 : (*scale)[i]) / std::sqrt(variance[i] + epsilon));
    affine.add(mean, -1.0);
    affine.multiply(factors);
    affine.add(offset);
  }

  template <typename T>
  std::optional<ConstTensor> scaled_weights(const Affine& affine) const {
    const ConstTensor& value = weights_.value;
    std::string scaled;
    scaled.reserve(value.count() * sizeof(T));
    for (uint64_t i = 0; i < value.count(); ++i) {
      const double factor = affine.scale()[i / weights_.inner % weights_.channels.number];
      const auto number = static_cast<T>(static_cast<double>(element_at<T>(value, i)) * factor);
      if (!std::isfinite(number)) return std::nullopt;
      append_number(scaled, number);
    }
    return ConstTensor::owning(value.dtype(), value.shape(), std::move(scaled));
  }

  template <typename T>
  std::optional<ConstTensor> bias(const Affine& affine) const {
    std::string numbers;
    for (const double shift : affine.shift()) {
      if (!std::isfinite(static_cast<T>(shift))) return std::nullopt;
      append_number(numbers, static_cast<T>(shift));
    }
    return ConstTensor::owning(weights_.value.dtype(), {static_cast<int64_t>(affine.shift().size())},
                               std::move(numbers));
  }

  // Whether the convolution alone reads the weights, maybe through Identities.
  bool weights_are_own() const {
    NodeId id = weights_.node;
    for (int steps = 0; steps < 8; ++steps) {
      const auto readers = subject_.consumers.of(id);
      if (readers.size() != 1 || subject_.kept(id)) return false;
      id = readers[0];
      if (id == linear_) return input_views(bytes(linear_))[0] != input_views(bytes(linear_))[kWeightsInput];
    }
    return false;
  }

  std::optional<FoldedNorm> rewritten(const Affine& affine) const {
    const bool single = weights_.value.dtype() == DType::kFloat;
    const auto weights = single ? scaled_weights<float>(affine) : scaled_weights<double>(affine);
    const auto shift = single ? bias<float>(affine) : bias<double>(affine);
    if (!weights || !shift) return std::nullopt;
    FoldedNorm found;
    const std::string_view old_weights = bytes(weights_.node);
    if (weights_are_own()) {
      const std::string tensor = tensor_value(tensor_proto_of(*weights));
      found.replaced.emplace_back(weights_.node, with_attr(old_weights, "value", tensor));
    } else {
      const std::string name = subject_.free_name(graph_.name(weights_.node));
      found.added.push_back(with_name(const_node(old_weights, *weights), name));
      std::vector<std::string> inputs = inputs_of(bytes(linear_));
      inputs[kWeightsInput] = name;
      found.replaced.emplace_back(linear_, with_inputs(bytes(linear_), inputs));
    }
    NodeId before = linear_;  // the last that stays
    for (const Link& link : chain_) {
      if (link.node == chain_.back().node) break;
      if (!link.moves) {
        found.passed.push_back(link.node);
        continue;
      }
      std::vector<std::string> inputs = inputs_of(bytes(link.node));
      inputs[0] = graph_.name(before);
      found.replaced.emplace_back(link.node, with_inputs(bytes(link.node), inputs));
      before = link.node;
    }
    append_end(found, *shift, affine.shifts(), before);
    return found;
  }

  // The last node, which keeps its name.
  void append_end(FoldedNorm& found, const ConstTensor& shift, bool shifts, NodeId before) const {
    const NodeId end = chain_.back().node;
    const std::string_view name = graph_.name(end), device = node_device(bytes(end));
    NodeBuilder node(name, shifts ? "BiasAdd" : "Identity");
    node.input(graph_.name(before));
    if (shifts) {
      std::string wanted(name);
      const std::string bias_name = subject_.free_name(wanted.append("/bias"));
      node.input(bias_name);
      NodeBuilder bias_head(bias_name, "Const");
      each_input(bytes(weights_.node), [&](std::string_view input) { bias_head.input(input); });
      bias_head.device(device);
      found.added.push_back(const_node(bias_head.take(), shift));
    }
    node.device(device).type("T", weights_.value.dtype());
    if (shifts) node.attr("data_format", string_value(format()));
    found.replaced.emplace_back(end, node.take());
  }

  const NormSubject& subject_;
  const Graph& graph_;
  NodeId linear_;
  const Linear& kind_;
  Weights weights_;
  std::vector<Link> chain_;
};

}  // namespace

std::vector<FoldedNorm> find_batch_norms(const NormSubject& subject) {
  std::vector<FoldedNorm> found;
  for (uint32_t i = 0; i < subject.graph.size(); ++i) {
    const NodeId id{i};
    if (subject.graph.removed(id)) continue;
    for (const Linear& kind : kLinear) {
      if (subject.graph.op(id) != kind.op) continue;
      if (auto norm = NormChain(subject, id, kind).fold()) found.push_back(std::move(*norm));
    }
  }
  return found;
}

}  // namespace gedit::folding
