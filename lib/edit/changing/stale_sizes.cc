#include "edit/changing/stale_sizes.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/packed.h"
#include "edit/basis/addresses.h"
#include "graph/listing.h"
#include "graph/wiring.h"
#include "ops/kinds.h"
#include "ops/registry.h"

namespace gedit {
namespace {

constexpr uint64_t kMostSizes = 64;  // in a constant; no tensor has as many dimensions

// Arguments that are a shape go by these names in all of TensorFlow's ops: Reshape.shape, Fill.dims,
// ResizeBilinear.size, Conv2DBackpropInput.input_sizes, BroadcastGradientArgs.s0, ...
bool is_shape_argument(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kNames{"shape", "dims", "size", "sizes", "s0", "s1"};
  if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) return true;
  return name.ends_with("_shape") || name.ends_with("_sizes") || name.ends_with("_size") ||
         name.ends_with("_dims");
}

// For each op the input slots that are shapes, as far as they can be counted without the node.
class ShapeSlots {
 public:
  explicit ShapeSlots(Registry& ops) : ops_(ops) {}
  const std::vector<size_t>& of(std::string_view op) {
    const auto [found, fresh] = slots_.emplace(op, std::vector<size_t>());
    if (!fresh) return found->second;
    const std::string_view bytes = ops_.find(op);
    if (bytes.empty()) return found->second;
    size_t slot = 0;
    for (const ArgDef& arg : parse_op_def(bytes).inputs) {
      if (!arg.number_attr.empty() || !arg.type_list_attr.empty()) break;
      if (is_shape_argument(arg.name)) found->second.push_back(slot);
      ++slot;
    }
    return found->second;
  }

 private:
  Registry& ops_;
  std::unordered_map<std::string_view, std::vector<size_t>> slots_;
};

}  // namespace

ConstSizes const_sizes(std::string_view node_def) {
  ConstSizes sizes;
  const auto value = is_const_op(node_op(node_def)) ? find_attr(node_def, "value") : std::nullopt;
  if (!value) return sizes;
  const std::string_view tensor = last_bytes(*value, attr_field::kTensor);
  const auto type = static_cast<DType>(last_varint(tensor, 1));
  const Shape shape = parse_shape_proto(last_bytes(tensor, 2));
  if ((type != DType::kInt32 && type != DType::kInt64) || !shape || shape->size() > 1) return sizes;
  const auto count = shape->empty() ? uint64_t{1} : static_cast<uint64_t>((*shape)[0]);
  if (count > kMostSizes) return sizes;
  sizes.vector = !shape->empty();
  std::string store;
  const auto data = tensor_data(tensor, store);
  if (!data) return sizes;
  constexpr uint32_t kContent = 4;
  const size_t width = data->field == kContent ? dtype_width(type) : 0;
  for (Packed packed(data->bytes, width); packed.next() && sizes.numbers.size() < count;) {
    const uint64_t number = packed.value();
    sizes.numbers.push_back(width == 4 ? static_cast<int32_t>(number) : static_cast<int64_t>(number));
  }
  if (!sizes.numbers.empty()) sizes.numbers.resize(count, sizes.numbers.back());  // the last one repeats
  return sizes;
}

std::vector<OldSize> old_sizes(const Graph& graph, const Names& names, const Edges& consumers, Registry& ops,
                               NodeId node, const Shape& before, const Shape& now) {
  NodeSet start(graph.size());
  start.add(node);
  return old_sizes_of(graph, names, reach(start, consumers, kAnyDistance), ops, before, now);
}

std::vector<OldSize> old_sizes_of(const Graph& graph, const Names& names, const NodeSet& readers,
                                  Registry& ops, const Shape& before, const Shape& now) {
  struct Gone {
    int64_t size;
    size_t dimension;
  };
  std::vector<Gone> gone;
  for (size_t i = 0; before && i < before->size(); ++i) {
    const bool stays = now && now->size() == before->size() && (*now)[i] == (*before)[i];
    if ((*before)[i] > 0 && !stays) gone.push_back({(*before)[i], i});
  }
  std::vector<OldSize> found;
  if (gone.empty()) return found;

  NodeSet seen(graph.size());  // parts of shapes
  ShapeSlots slots(ops);
  std::vector<NodeId> stack;
  const auto push = [&](std::string_view text) {
    const Input input = parse_input_of(graph, text);
    const NodeId id = input.control ? kNoNode : names.find(input.node);
    if (id != kNoNode && seen.add(id)) stack.push_back(id);
  };
  for (const NodeId reader : readers.nodes()) {
    const std::vector<size_t>& shapes = slots.of(node_op(graph.bytes(reader)));
    if (shapes.empty()) continue;
    size_t slot = 0;
    each_input(graph.bytes(reader), [&](std::string_view text) {
      if (std::find(shapes.begin(), shapes.end(), slot++) != shapes.end()) push(text);
    });
  }
  while (!stack.empty()) {
    const NodeId at = stack.back();
    stack.pop_back();
    if (is(node_op(graph.bytes(at)), OpKind::kComputesShape)) {
      each_input(graph.bytes(at), push);
      continue;
    }
    const ConstSizes sizes = const_sizes(graph.bytes(at));
    for (const Gone& one : gone) {
      bool held = false;
      for (size_t i = 0; i < sizes.numbers.size(); ++i) {
        // A 1 is everywhere; it speaks of the dimension only in its place.
        held =
            held || (sizes.numbers[i] == one.size && (one.size > 1 || (sizes.vector && i == one.dimension)));
      }
      if (!held) continue;
      found.push_back({at, one.size, one.dimension});
      break;
    }
  }
  std::sort(found.begin(), found.end(),
            [](const OldSize& a, const OldSize& b) { return a.constant < b.constant; });
  return found;
}

bool only_a_size(const Graph& graph, const Names& names, const Edges& consumers, Registry& ops,
                 NodeId constant) {
  ShapeSlots slots(ops);
  for (const NodeId reader : consumers.of(constant)) {
    if (graph.is(reader, OpKind::kComputesShape)) continue;
    const std::vector<size_t>& shapes = slots.of(graph.op(reader));
    size_t slot = 0;
    bool only = true;
    each_input(graph.bytes(reader), [&](std::string_view text) {
      const Input input = parse_input_of(graph, text);
      if (!input.control && names.find(input.node) == constant)
        only = only && std::find(shapes.begin(), shapes.end(), slot) != shapes.end();
      ++slot;
    });
    if (!only) return false;
  }
  return true;
}

}  // namespace gedit
