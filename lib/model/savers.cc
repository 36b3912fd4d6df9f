#include "model/savers.h"

#include <algorithm>

#include "graph/types.h"
#include "model/collections.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr int kLongestWay = 16;  // nodes between a variable and its saver; savers have one to three
// A hostile shape must not become memory: strings that are there, and those that repeat the last one.
constexpr size_t kMostStrings = 50'000'000, kMostRepeated = 100'000;

NodeId const_behind(const Graph& graph, const Names& names, const std::vector<std::string_view>& inputs,
                    size_t slot) {
  if (slot >= inputs.size()) return kNoNode;
  NodeId id = names.find(parse_input(inputs[slot]).node);
  for (int step = 0; id != kNoNode && step < kLongestWay; ++step) {
    const std::string_view node_def = graph.bytes(id);
    if (is_const_op(node_op(node_def))) return string_const(node_def, 0) ? id : kNoNode;
    if (!is_identity_op(node_op(node_def))) return kNoNode;
    const std::vector<std::string_view> next = input_views(node_def);
    id = next.empty() ? kNoNode : names.find(parse_input(next[0]).node);
  }
  return kNoNode;
}

std::vector<std::string> strings_of(const Graph& graph, NodeId id, size_t most) {
  if (id == kNoNode) return {};
  return string_const(graph.bytes(id), most).value_or(std::vector<std::string>());
}

SaveNode read_save(const Graph& graph, const Names& names, NodeId id) {
  const std::string_view node_def = graph.bytes(id);
  const std::vector<std::string_view> inputs = input_views(node_def);
  SaveNode save;
  save.node = id;
  const bool sliced = is(node_op(node_def), OpKind::kTakesSlices);
  save.first_tensor = sliced ? 3 : 2;
  save.names = const_behind(graph, names, inputs, 1);
  if (sliced) save.slices = const_behind(graph, names, inputs, 2);
  if (save.names == kNoNode) return save;
  const std::vector<std::string> keys = strings_of(graph, save.names, inputs.size()),
                                 slices = strings_of(graph, save.slices, inputs.size());
  for (uint32_t slot = 0; slot < keys.size() && save.first_tensor + slot < inputs.size(); ++slot) {
    const std::string_view input = inputs[save.first_tensor + slot];
    if (input.starts_with('^')) break;
    SavedTensor tensor{slot, keys[slot], slot < slices.size() ? slices[slot] : "", kNoNode, {}};
    tensor.variable = variable_behind(graph, names, input, &tensor.between);
    save.tensors.push_back(std::move(tensor));
  }
  return save;
}

// The node that takes the value of `from`'s output `output` on: an assignment of it, or what hands it on.
struct RestoreReader {
  uint32_t output;
  NodeId node;
};

std::vector<RestoreReader> takers(const Graph& graph, const Names& names, const Edges& consumers,
                                  NodeId from) {
  std::vector<RestoreReader> found;
  for (const NodeId reader : consumers.of(from)) {
    const std::string_view node_def = graph.bytes(reader);
    const std::string_view op = node_op(node_def);
    if (!is_assign_op(op) && !is(op, OpKind::kPassesSavedInGraph)) continue;
    const std::vector<std::string_view> inputs = input_views(node_def);
    const size_t slot = is_assign_op(op) ? 1 : 0;
    if (slot >= inputs.size()) continue;
    const Input input = parse_input(inputs[slot]);
    if (!input.control && names.find(input.node) == from) found.push_back({input.index(), reader});
  }
  return found;
}

// From the first taker of a restored tensor forward to the assignment.
void follow(const Graph& graph, const Names& names, const Edges& consumers, NodeId taker,
            RestoredTensor& tensor) {
  for (int step = 0; step < kLongestWay; ++step) {
    tensor.between.push_back(taker);
    if (is_assign_op(node_op(graph.bytes(taker)))) {
      tensor.variable = variable_behind(graph, names, input_views(graph.bytes(taker))[0]);
      return;
    }
    const std::vector<RestoreReader> next = takers(graph, names, consumers, taker);
    if (next.empty()) return;
    taker = next.front().node;
  }
}

RestoreNode read_restore(const Graph& graph, const Names& names, const Edges& consumers, NodeId id) {
  const std::string_view node_def = graph.bytes(id);
  const std::vector<std::string_view> inputs = input_views(node_def);
  RestoreNode restore;
  restore.node = id;
  restore.names = const_behind(graph, names, inputs, 1);
  restore.slices = const_behind(graph, names, inputs, 2);
  // Many may read one Const: no more of it than the node has outputs.
  const bool list = is_restore_v2_op(node_op(node_def));
  const size_t outputs = list ? type_list(find_attr(node_def, "dtypes").value_or("")).size() : 1;
  const std::vector<std::string> keys = strings_of(graph, restore.names, outputs),
                                 slices = strings_of(graph, restore.slices, outputs);
  for (uint32_t output = 0; output < keys.size(); ++output) {
    restore.tensors.push_back(
        {output, keys[output], output < slices.size() ? slices[output] : "", kNoNode, {}});
  }
  for (const RestoreReader& taker : takers(graph, names, consumers, id)) {
    if (taker.output >= restore.tensors.size() || !restore.tensors[taker.output].between.empty()) continue;
    follow(graph, names, consumers, taker.node, restore.tensors[taker.output]);
  }
  return restore;
}

}  // namespace

std::optional<std::vector<std::string>> string_const(std::string_view node_def, size_t most) {
  if (!is_const_op(node_op(node_def))) return std::nullopt;
  const auto value = find_attr(node_def, "value");
  if (!value) return std::nullopt;
  const std::string_view tensor = last_bytes(*value, attr_field::kTensor);
  if (static_cast<DType>(last_varint(tensor, 1)) != DType::kString) return std::nullopt;
  const Shape shape = parse_shape_proto(last_bytes(tensor, 2));
  if (!shape) return std::nullopt;
  size_t count = 1;
  for (const int64_t size : *shape) {
    if (size < 0 || static_cast<size_t>(size) > kMostStrings ||
        (count *= static_cast<size_t>(size)) > kMostStrings)
      return std::nullopt;
  }
  count = std::min(count, most);
  std::vector<std::string> strings;
  for (Fields fields(tensor); strings.size() < count && fields.next();) {
    if (fields->bytes(8)) strings.emplace_back(fields->value);
  }
  if (count - strings.size() > kMostRepeated) return std::nullopt;
  const std::string last =
      strings.empty() ? "" : strings.back();  // fewer values than elements: the last one repeats
  strings.resize(count, last);
  return strings;
}

std::string strings_value(const std::vector<std::string>& strings, bool scalar) {
  std::string tensor, value;
  append_varint_field(tensor, 1, static_cast<uint64_t>(DType::kString));
  append_bytes_field(tensor, 2,
                     scalar ? "" : shape_proto(std::vector<int64_t>{static_cast<int64_t>(strings.size())}));
  for (const std::string& text : strings) append_bytes_field(tensor, 8, text);
  append_bytes_field(value, attr_field::kTensor, tensor);
  return value;
}

std::string with_strings(std::string_view node_def, const std::vector<std::string>& strings) {
  // A scalar stays one: Restore and RestoreSlice take one name, not a list of one.
  const std::string_view before = last_bytes(find_attr(node_def, "value").value_or(""), attr_field::kTensor);
  const Shape shape = parse_shape_proto(last_bytes(before, 2));
  const bool scalar = strings.size() == 1 && shape && shape->empty();
  std::string result = with_attr(node_def, "value", strings_value(strings, scalar));
  if (string_const(node_def).value_or(strings).size() != strings.size() &&
      find_attr(node_def, "_output_shapes"))
    result = with_attr(result, "_output_shapes", std::nullopt);
  return result;
}

NodeId variable_behind(const Graph& graph, const Names& names, std::string_view input,
                       std::vector<NodeId>* between) {
  for (int step = 0; step < kLongestWay; ++step) {
    const Input parsed = parse_input(input);
    const NodeId id = parsed.control ? kNoNode : names.find(parsed.node);
    if (id == kNoNode) break;
    const std::string_view node_def = graph.bytes(id);
    const std::string_view op = node_op(node_def);
    if (is_variable_op(op)) {
      if (between != nullptr) std::reverse(between->begin(), between->end());
      return id;
    }
    if (!is(op, OpKind::kPassesSavedInGraph)) break;
    if (between != nullptr) between->push_back(id);
    std::string_view next;
    each_input(node_def, [&](std::string_view text) {
      if (next.empty()) next = text;
    });
    if (next.empty()) break;
    input = next;
  }
  if (between != nullptr) between->clear();
  return kNoNode;
}

NodeId state_behind(const Graph& graph, const Names& names, std::string_view input,
                    std::vector<NodeId>* between) {
  const NodeId variable = variable_behind(graph, names, input, between);
  if (variable != kNoNode) return variable;
  const auto node = [&](std::string_view text) {
    const Input parsed = parse_input(text);
    return parsed.control ? kNoNode : names.find(parsed.node);
  };
  NodeId id = node(input);
  if (id == kNoNode) return id;
  if (!is(node_op(graph.bytes(id)), OpKind::kTableExport))
    return is_table_op(node_op(graph.bytes(id))) ? id : kNoNode;
  const std::vector<std::string_view> inputs = input_views(graph.bytes(id));
  const NodeId table = inputs.empty() ? kNoNode : node(inputs.front());
  if (table == kNoNode || !is_table_op(node_op(graph.bytes(table)))) return kNoNode;
  if (between != nullptr) between->push_back(id);
  return table;
}

std::unordered_map<uint32_t, std::string_view> variable_keys(const Savers& savers) {
  std::unordered_map<uint32_t, std::string_view> keys;
  const auto add = [&](const auto& nodes) {
    for (const auto& node : nodes) {
      for (const auto& tensor : node.tensors) {
        if (tensor.variable != kNoNode) keys.emplace(index_of(tensor.variable), tensor.key);
      }
    }
  };
  add(savers.saves);
  add(savers.restores);
  return keys;
}

namespace {

std::vector<NodeId> saver_nodes(const Graph& graph) {
  std::vector<NodeId> nodes;
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (graph.removed(NodeId{i})) continue;
    const std::string_view op = node_op(graph.bytes(NodeId{i}));
    if (is_save_op(op) || is_restore_op(op)) nodes.push_back(NodeId{i});
  }
  return nodes;
}

Savers read_savers(const Graph& graph, const Names& names, const Edges& consumers,
                   const std::vector<NodeId>& nodes) {
  Savers savers;
  for (const NodeId id : nodes) {
    if (is_save_op(node_op(graph.bytes(id)))) {
      savers.saves.push_back(read_save(graph, names, id));
    } else {
      savers.restores.push_back(read_restore(graph, names, consumers, id));
    }
  }
  return savers;
}

}  // namespace

Savers find_savers(const Graph& graph, const Names& names, const Edges& consumers) {
  return read_savers(graph, names, consumers, saver_nodes(graph));
}

std::unordered_set<uint32_t> variable_initializers(const MetaGraph& meta, const Names& names) {
  std::unordered_set<uint32_t> initializers;
  for (const Collection& collection : collections(meta)) {
    if (collection.kind != collection_kind::kBytesList || !holds_variables(collection.key)) continue;
    for (const std::string_view item : collection.items) {
      const NodeId id = names.find(node_of(variable_names(item).initializer));
      if (id != kNoNode) initializers.insert(index_of(id));
    }
  }
  return initializers;
}

Savers find_savers(const Graph& graph, const Names& names, const Edges& consumers,
                   const std::unordered_set<uint32_t>& initializers) {
  return find_savers(graph, names, consumers, initializers, saver_nodes(graph));
}

Savers find_savers(const Graph& graph, const Names& names, const Edges& consumers,
                   const std::unordered_set<uint32_t>& initializers, const std::vector<NodeId>& nodes) {
  Savers savers = read_savers(graph, names, consumers, nodes);
  std::erase_if(savers.restores, [&](const RestoreNode& restore) {
    return std::any_of(restore.tensors.begin(), restore.tensors.end(), [&](const RestoredTensor& tensor) {
      return !tensor.between.empty() && initializers.contains(index_of(tensor.between.back()));
    });
  });
  return savers;
}

}  // namespace gedit
