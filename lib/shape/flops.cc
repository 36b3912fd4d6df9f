#include "shape/flops.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "graph/types.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr uint64_t kMostFlops = std::numeric_limits<uint64_t>::max() / 4;

// What a formula reads of a node: shapes that are fully known, or nothing at all comes of it.
class Costed {
 public:
  Costed(const GraphShapes& shapes, NodeId id, std::string_view node_def)
      : node_def_(node_def), inputs_(shapes.input_shapes(id)), output_(shapes.shape(id)) {}

  using Amount = std::optional<unsigned __int128>;
  Amount output() const { return elements(output_); }
  Amount input(size_t i) const { return i < inputs_.size() ? elements(inputs_[i]) : std::nullopt; }
  size_t inputs() const { return inputs_.size(); }
  Amount dim(size_t input, int64_t axis) const {
    return i_th(input < inputs_.size() ? inputs_[input] : Shape(), axis);
  }
  Amount last_of_output() const { return i_th(output_, -1); }
  bool known() const { return all_known(output_) && std::ranges::all_of(inputs_, all_known); }
  bool flag(std::string_view key) const {
    const auto value = find_attr(node_def_, key);
    return value && last_varint(*value, attr_field::kBool) != 0;
  }
  bool channels_last() const {
    const auto format = string_attr(node_def_, "data_format");
    return !format || *format == "NHWC";
  }
  std::vector<int64_t> numbers(std::string_view key) const {
    const auto value = find_attr(node_def_, key);
    return value ? int_list(*value) : std::vector<int64_t>();
  }

 private:
  static Amount elements(const Shape& shape) {
    if (!shape) return std::nullopt;
    unsigned __int128 product = 1;
    for (const int64_t dim : *shape) {
      if (dim < 0) return std::nullopt;
      product *= static_cast<uint64_t>(dim);
      if (product > kMostFlops) return std::nullopt;
    }
    return product;
  }
  static Amount i_th(const Shape& shape, int64_t axis) {
    if (!shape) return std::nullopt;
    if (axis < 0) axis += static_cast<int64_t>(shape->size());
    if (axis < 0 || axis >= static_cast<int64_t>(shape->size())) return std::nullopt;
    const int64_t dim = (*shape)[static_cast<size_t>(axis)];
    return dim < 0 ? std::nullopt : Amount(static_cast<uint64_t>(dim));
  }

  std::string_view node_def_;
  std::vector<Shape> inputs_;
  Shape output_;
};
using Amount = Costed::Amount;

Amount times(Amount a, Amount b) {
  if (!a || !b) return std::nullopt;
  if (*a != 0 && *b > kMostFlops / *a) return std::nullopt;
  return *a * *b;
}
template <typename... More>
Amount times(Amount a, Amount b, More... more) {
  return times(times(a, b), more...);
}

template <int kEach>
Amount per_input(const Costed& node) {
  return times(node.input(0), kEach);
}
template <int kEach>
Amount per_output(const Costed& node) {
  return times(node.output(), kEach);
}
Amount l2_loss(const Costed& node) {
  const Amount elements = node.input(0);
  return elements ? Amount(*elements == 0 ? 0 : *elements * 3 - 1) : std::nullopt;
}
Amount mean(const Costed& node) { return node.output() ? node.input(0) : std::nullopt; }
Amount sum(const Costed& node) {
  const Amount all = node.input(0), left = node.output();
  return all && left && *all >= *left ? Amount(*all - *left) : std::nullopt;
}
Amount window(const Costed& node) {
  Amount area = 1;
  for (const int64_t size : node.numbers("ksize"))
    area = times(area, static_cast<uint64_t>(std::max<int64_t>(size, 0)));
  return area;
}
Amount pool(const Costed& node) {
  return node.channels_last() ? times(window(node), node.output()) : std::nullopt;
}
Amount average_pool_grad(const Costed& node) {
  return node.channels_last() ? times(window(node), node.input(1), 2) : std::nullopt;
}
Amount max_pool_grad(const Costed& node) {
  const Amount all = times(window(node), node.input(1)), once = node.input(1);
  return node.channels_last() && all && once ? Amount(*all + *once) : std::nullopt;
}
Amount over_strides(const Costed& node, Amount product, Amount depth) {
  const std::vector<int64_t> strides = node.numbers("strides");
  if (!node.channels_last() || !product || !depth || *depth == 0 || strides.size() < 3) return std::nullopt;
  if (strides[1] <= 0 || strides[2] <= 0) return std::nullopt;
  const Amount divisor = times(*depth, static_cast<uint64_t>(strides[1]), static_cast<uint64_t>(strides[2]));
  return divisor ? Amount(*product / *divisor) : std::nullopt;
}
Amount conv_input_grad(const Costed& node) {
  return over_strides(node, times(2, node.output(), node.input(1)), node.last_of_output());
}
Amount conv_filter_grad(const Costed& node) {
  return over_strides(node, times(2, node.input(0), node.output()), node.dim(0, -1));
}
Amount add_n(const Costed& node) {
  return node.inputs() == 0 ? Amount(0) : times(node.input(0), node.inputs() - 1);
}
Amount mat_mul(const Costed& node) {
  return node.input(0) ? times(node.dim(0, node.flag("transpose_a") ? 0 : 1), node.output(), 2)
                       : std::nullopt;
}
// Where the first is transposed says another attribute of these ops; TensorFlow's table asks this one.
Amount batch_mat_mul(const Costed& node) {
  return node.input(0) ? times(node.dim(0, node.flag("transpose_a") ? -2 : -1), node.output(), 2)
                       : std::nullopt;
}
Amount conv_2d(const Costed& node) {
  if (!node.input(0) || !node.input(1)) return std::nullopt;
  return times(node.output(), node.dim(1, 2), node.dim(1, 0), node.dim(1, 1), 2);
}
Amount conv_3d(const Costed& node) {
  if (!node.input(0) || !node.input(1)) return std::nullopt;
  return times(node.output(), node.dim(1, 3), node.dim(1, 0), node.dim(1, 1), node.dim(1, 2), 2);
}
Amount depthwise_conv(const Costed& node) {
  if (!node.input(0) || !node.input(1)) return std::nullopt;
  return times(node.output(), node.dim(1, 0), node.dim(1, 1), 2);
}

struct Formula {
  std::string_view op;
  Amount (*count)(const Costed&);
};
constexpr auto kFormulas = std::to_array<Formula>({
    {"Reciprocal", per_input<1>},
    {"Square", per_input<1>},
    {"Rsqrt", per_input<2>},
    {"Log", per_input<1>},
    {"Neg", per_input<1>},
    {"AssignSub", per_input<1>},
    {"AssignAdd", per_input<1>},
    {"L2Loss", l2_loss},
    {"Softmax", per_input<5>},
    {"Add", per_output<1>},
    {"AddV2", per_output<1>},
    {"Sub", per_output<1>},
    {"Mul", per_output<1>},
    {"RealDiv", per_output<1>},
    {"Maximum", per_output<1>},
    {"Minimum", per_output<1>},
    {"Pow", per_output<1>},
    {"RsqrtGrad", per_output<4>},
    {"GreaterEqual", per_output<1>},
    {"Greater", per_output<1>},
    {"LessEqual", per_output<1>},
    {"Less", per_output<1>},
    {"Equal", per_output<1>},
    {"NotEqual", per_output<1>},
    {"SquaredDifference", per_output<2>},
    {"Mean", mean},
    {"Sum", sum},
    {"ArgMax", sum},
    {"ArgMin", sum},
    {"BiasAddGrad", sum},
    {"AvgPool", pool},
    {"MaxPool", pool},
    {"AvgPoolGrad", average_pool_grad},
    {"MaxPoolGrad", max_pool_grad},
    {"Conv2DBackpropInput", conv_input_grad},
    {"Conv2DBackpropFilter", conv_filter_grad},
    {"AddN", add_n},
    {"MatMul", mat_mul},
    {"BatchMatMul", batch_mat_mul},
    {"BatchMatMulV2", batch_mat_mul},
    {"BatchMatMulV3", batch_mat_mul},
    {"Conv2D", conv_2d},
    {"Conv3D", conv_3d},
    {"DepthwiseConv2dNative", depthwise_conv},
    {"Dilation2D", depthwise_conv},
    {"BiasAdd", per_input<1>},
});

// Ops on floating point that move data, or make it of nothing.
constexpr std::string_view kMoves =
    "BatchToSpaceND BroadcastTo Concat ConcatV2 Const DepthToSpace Enter Exit ExpandDims Fill Gather "
    "GatherNd GatherV2 Identity IdentityN Merge MirrorPad NextIteration OnesLike Pack Pad PadV2 "
    "Placeholder PlaceholderWithDefault PreventGradient Rank ReadVariableOp RefEnter RefSwitch Reshape "
    "ResourceGather Reverse ReverseV2 Select SelectV2 Shape ShapeN Size Slice Snapshot SpaceToBatchND "
    "SpaceToDepth "
    "Split SplitV Squeeze StopGradient StridedSlice Switch TensorArrayConcatV3 TensorArrayGatherV3 "
    "TensorArrayReadV3 TensorArrayScatterV3 TensorArraySplitV3 TensorArrayWriteV3 TensorListGetItem "
    "TensorListStack Tile Transpose Unpack Variable VariableV2 "
    "Where ZerosLike";

bool moves(std::string_view op) {
  for (std::string_view rest = kMoves; !rest.empty();) {
    const size_t end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == op) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

// Whether it works on floating point numbers: its type attribute says so.
bool computes(std::string_view node_def) {
  const DType type = type_attr(node_def, "T").value_or(DType::kInvalid);
  const bool number =
      type == DType::kFloat || type == DType::kDouble || type == DType::kHalf || type == DType::kBfloat16;
  return number && !moves(node_op(node_def));
}

class FlopCounter {
 public:
  FlopCounter(Inference& inference, int depth) : inference_(inference), depth_(depth) {
    for (const Formula& formula : kFormulas) formulas_.emplace(formula.op, formula.count);
  }

  Flops count(const Graph& graph) {
    any_variable_ = graph.tally().variables > 0;
    const uint64_t total = add(graph, inference_.main(), "", true);
    found_.total = total;
    found_.unknown_from = unknown_sources(graph, inference_.main(), of_unknown_);
    for (auto& [scope, row] : rows_) {
      if (row.flops > 0 || row.parameters > 0) found_.scopes.push_back(std::move(row));
    }
    std::ranges::stable_sort(found_.scopes, [](const ScopeFlops& a, const ScopeFlops& b) {
      return a.flops != b.flops ? a.flops > b.flops : a.parameters > b.parameters;
    });
    return std::move(found_);
  }

 private:
  std::string scope_of(std::string_view prefix, std::string_view name) const {
    std::string path(prefix);
    if (!path.empty()) path += '/';
    path += name;
    if (depth_ == 0) return "";
    size_t end = std::string::npos, from = 0;
    for (int i = 0; i < depth_; ++i) {
      end = path.find('/', from);
      if (end == std::string::npos) break;
      from = end + 1;
    }
    return end == std::string::npos
               ? path.substr(0, path.rfind('/') == std::string::npos ? 0 : path.rfind('/'))
               : path.substr(0, end);
  }
  ScopeFlops& row(std::string_view prefix, std::string_view name) {
    std::string scope = scope_of(prefix, name);
    ScopeFlops& found = rows_[scope];
    found.scope = std::move(scope);
    return found;
  }

  // What the nodes of a graph take; the scopes get it where `counted`.
  uint64_t add(const Graph& graph, const GraphShapes& shapes, const std::string& prefix, bool counted) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < graph.size(); ++i) {
      const NodeId id{i};
      if (graph.removed(id)) continue;
      const uint64_t unknown_before = unknown_;
      const std::string_view node_def = graph.bytes(id), op = node_op(node_def);
      found_.loops = found_.loops || is_enter_op(op) || is(op, OpKind::kWhile);
      const auto formula = formulas_.find(op);
      if (formula != formulas_.end()) {
        const Costed costed(shapes, id, node_def);
        const Amount amount = formula->second(costed);
        if (!amount && counted) {
          ++found_.not_counted[std::string(op)];
          if (!costed.known()) ++found_.unknown[std::string(op)];
          if (!costed.known()) ++unknown_;
        }
        const auto flops = static_cast<uint64_t>(amount.value_or(0));
        total = std::min(total + flops, kMostFlops);
        if (counted) row(prefix, node_name(node_def)).flops += flops;
      } else {
        bool calls = false;
        total = std::min(total + called(graph, shapes, id, prefix, counted, calls), kMostFlops);
        if (counted && !calls && computes(node_def)) ++found_.not_counted[std::string(op)];
      }
      if (counted) weigh(shapes, id, node_def, prefix);
      if (prefix.empty() && unknown_ > unknown_before) of_unknown_.push_back(id);
    }
    return total;
  }

  // Of what a node calls: of branches that which takes most.
  uint64_t called(const Graph& graph, const GraphShapes& shapes, NodeId id, const std::string& prefix,
                  bool counted, bool& calls) {
    const std::string_view node_def = graph.bytes(id);
    std::vector<Inference::Called> bodies = inference_.called(shapes, id);
    calls = !bodies.empty();
    std::erase_if(bodies, [&](const Inference::Called& body) {
      const bool open = open_.contains(body.function);
      if (open) found_.recursive = body.function;
      return open;
    });
    if (bodies.empty()) return 0;
    const bool loop = is(node_op(node_def), OpKind::kWhile);
    uint64_t most = 0, sum = 0;
    size_t largest = 0;
    for (size_t i = 0; i < bodies.size(); ++i) {
      const uint64_t flops = total_of(bodies[i]);
      sum += flops;
      if (flops > most) largest = i;
      most = std::max(most, flops);
    }
    std::string inner(prefix);
    if (!inner.empty()) inner += '/';
    inner += node_name(node_def);
    for (size_t i = 0; counted && i < bodies.size(); ++i) {
      if ((loop || i == largest) && inner.size() < kLongestPath && budget_-- > 0)
        add_body(bodies[i], inner, true);
    }
    return loop ? sum : most;
  }

  uint64_t add_body(const Inference::Called& body, const std::string& prefix, bool counted) {
    open_.insert(body.function);
    const uint64_t total = add(*inference_.body(body.function), *body.shapes, prefix, counted);
    open_.erase(body.function);
    return total;
  }

  // Once for each body with its shapes.
  uint64_t total_of(const Inference::Called& body) {
    const auto known = totals_.find(body.shapes);
    if (known != totals_.end()) return known->second;
    const uint64_t total = add_body(body, "", false);
    totals_.emplace(body.shapes, total);
    return total;
  }

  void weigh(const GraphShapes& shapes, NodeId id, std::string_view node_def, std::string_view prefix) {
    const std::string_view op = node_op(node_def);
    const DType type = type_attr(node_def, "dtype").value_or(DType::kInvalid);
    // Integers of a frozen graph are sizes and axes.
    const bool integer = type == DType::kInt32 || type == DType::kInt64;
    const bool weight = is_variable_op(op) || (!any_variable_ && is_const_op(op) && !integer);
    const Shape shape = is_var_handle_op(op) ? shapes.behind(id) : shapes.shape(id);
    if (!shape) return;
    uint64_t elements = 1;
    for (const int64_t dim : *shape) {
      if (dim < 0 || __builtin_mul_overflow(elements, static_cast<uint64_t>(dim), &elements)) return;
    }
    if (weight) {
      if (dtype_width(type) == 0) return;
      ScopeFlops& found = row(prefix, node_name(node_def));
      found.parameters += elements;
      found.bytes += elements * dtype_width(type);
    } else if (!is_const_op(op) && !is_variable_op(op)) {
      ScopeFlops& found = row(prefix, node_name(node_def));
      if (elements <= found.largest_elements) return;
      found.largest_elements = elements;
      found.largest = shape;
    }
  }

  static constexpr size_t kLongestPath = 4096;
  Inference& inference_;
  int depth_;
  int64_t budget_ = 10'000;  // bodies whose nodes get a row of their own
  bool any_variable_ = false;
  std::unordered_map<std::string_view, Amount (*)(const Costed&)> formulas_;
  std::unordered_map<const GraphShapes*, uint64_t> totals_;
  std::unordered_set<std::string_view> open_;  // functions that are being counted
  std::map<std::string, ScopeFlops> rows_;
  uint64_t unknown_ = 0;            // nodes that are not counted because shapes are not known
  std::vector<NodeId> of_unknown_;  // such nodes of the main graph, and those that call them
  Flops found_;
};

}  // namespace

Flops count_flops(const Graph& graph, Inference& inference, int depth) {
  return FlopCounter(inference, depth).count(graph);
}

}  // namespace gedit
