#include "edit/copying/input_map.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/near.h"
#include "edit/basis/addresses.h"
#include "edit/basis/branches.h"
#include "edit/basis/inferred_shapes.h"
#include "edit/basis/loops.h"
#include "graph/types.h"
#include "ops/kinds.h"

namespace gedit {

CopyInputMap::Value CopyInputMap::find_value(const std::string& written) const {
  const bool control = written.starts_with('^');
  const std::string_view plain = split_address(std::string_view(written).substr(control ? 1 : 0)).rest;
  const Input input = parse_input_of(reads_.facts.graph(), plain);
  const NodeId original =
      reads_.facts.names().find(input.node) == kNoNode ? reads_.mapping.original_of(input.node) : kNoNode;
  if (original == kNoNode) {
    const TensorRef tensor = reads_.facts.tensors().find(written, true);  // throws with near names
    reads_.facts.tensors().check_output(tensor);
    return {tensor, false, reads_.facts.tensors().input_text(tensor)};
  }
  std::string name = (control ? "^" : "") + std::string(reads_.facts.graph().name(original));
  if (!input.port.empty()) name += ":" + std::string(input.port);
  const TensorRef tensor = reads_.facts.tensors().find(name, true);
  reads_.facts.tensors().check_output(tensor);
  return {tensor, true, reads_.facts.tensors().input_text(tensor, input.node)};
}

Shape CopyInputMap::shape(const TensorRef& tensor) const {
  Shape shape = reads_.facts.tensors().shape(tensor);
  const bool scalar = shape && shape->empty() && tensor.node != kNoNode;
  return scalar && says_scalar_of_unknown(reads_.facts.graph(), tensor.node) ? Shape() : shape;
}

void CopyInputMap::apply(std::map<std::string, std::string>& inputs, std::vector<std::string>& warnings) {
  if (reads_.selection.input_map.empty()) return;
  std::unordered_map<TensorRef, size_t, TensorHash> reads;
  reads_.each([&](NodeId, size_t, const TensorRef& tensor) { ++reads[tensor]; });
  Values values;
  for (const auto& [key, written] : reads_.selection.input_map) {
    if (!reads.contains(key)) {
      Near near(parse_input(reads_.text(key)).node);
      for (const auto& [tensor, count] : reads) {
        if (!reads_.mapping.copied(tensor.node)) near.offer(reads_.facts.graph().name(tensor.node));
      }
      throw refused("nothing copied reads '" + printable(reads_.text(key)) + "'")
          .of("input map")
          .hint(near.did_you_mean());
    }
    values.emplace_back(key, find_value(written));
  }
  check_types(values);
  InferredShapes inferred(reads_.facts.graph(), reads_.facts.ops);
  for (const auto& [key, value] : values) {
    reads_.mapping.replace(key, value.text);
    inputs[reads_.text(key)] = value.text;
    const std::string key_text = reads_.text(key);
    check_loops({reads_.facts, key.node, key_text}, {reads_.facts, value.tensor.node, value.text},
                value.of_copy);
    const Shape was = shape(key), now = shape(value.tensor);
    if (!key.control) {
      const Shape of_key = inferred.known(key, was), of_value = inferred.known(value.tensor, now);
      if (!compatible(of_key, of_value)) {
        warnings.push_back("input map: '" + printable(value.text) + "' is " + shape_text(of_value) + ", '" +
                           printable(key_text) + "' was " + shape_text(of_key));
      }
    }
    const bool same = was && now && *was == *now &&
                      reads_.facts.tensors().type(key) == reads_.facts.tensors().type(value.tensor);
    if (!key.control && !same) changed_.push_back(key);
  }
  check_cycles(values);
  for (const auto& [key, value] : values) mapped_.emplace(key, value.tensor);
  check_branches(
      reads_.facts, reads_.selection.nodes,
      [&](const TensorRef& tensor) -> std::optional<TensorRef> {
        const auto found = mapped_.find(tensor);
        return found == mapped_.end() ? std::nullopt : std::optional(found->second);
      },
      "map");
}

// One pass over all reads; the first fault is that of the pair that was named first.
void CopyInputMap::check_types(const Values& values) const {
  std::unordered_map<TensorRef, size_t, TensorHash> numbers;
  for (const auto& [key, value] : values) {
    const DType type = reads_.facts.tensors().type(value.tensor);
    if (!key.control && type != DType::kInvalid && type != reads_.facts.tensors().type(key))
      numbers.emplace(key, numbers.size());
  }
  if (numbers.empty()) return;
  std::unordered_map<TensorRef, const Value*, TensorHash> by_key;
  for (const auto& [key, value] : values) by_key.emplace(key, &value);
  std::optional<std::pair<size_t, Error>> first;
  reads_.each([&](NodeId reader, size_t slot, const TensorRef& tensor) {
    const auto number = numbers.find(tensor);
    if (number == numbers.end() || (first && first->first <= number->second)) return;
    const Value& value = *by_key.at(tensor);
    const DType type = reads_.facts.tensors().type(value.tensor), wanted = reads_.input_type(reader, slot);
    if (fits(type, wanted)) return;
    first.emplace(number->second,
                  refused("passed " + dtype_name(type) + " where '" + printable(reads_.copy_name(reader)) +
                          "' reads " + dtype_name(wanted))
                      .of(quoted("tensor", value.text)));
  });
  if (first) throw first->second;
}

// One walk over the copies upwards from all VALUEs that are copies; a way that comes back to itself leads
// through one of them.
void CopyInputMap::check_cycles(const Values& values) const {
  const Graph& graph = reads_.facts.graph();
  std::unordered_map<TensorRef, NodeId, TensorHash> mapped;
  for (const auto& [key, value] : values) mapped.emplace(key, value.of_copy ? value.tensor.node : kNoNode);
  const auto sources = [&](NodeId at) {
    std::vector<NodeId> found;
    const bool merge = is_merge_op(node_op(graph.bytes(at)));
    each_input(graph.bytes(at), [&](std::string_view input) {
      const std::optional<TensorRef> tensor = reads_.facts.tensors().of_input(input);
      if (!tensor) return;
      NodeId next = reads_.mapping.copied(tensor->node) ? tensor->node : kNoNode;
      if (const auto value = mapped.find(*tensor); value != mapped.end()) next = value->second;
      if (next != kNoNode && !(merge && is_next_iteration_op(node_op(graph.bytes(next)))))
        found.push_back(next);
    });
    return found;
  };
  struct Step {
    NodeId at;
    std::vector<NodeId> left;
  };
  NodeSet seen(graph.size());
  std::vector<bool> on_way(graph.size());
  for (const auto& pair : values) {
    const NodeId start = pair.second.tensor.node;
    if (!pair.second.of_copy || !seen.add(start)) continue;
    std::vector<Step> way{{start, sources(start)}};
    on_way[index_of(start)] = true;
    while (!way.empty()) {
      if (way.back().left.empty()) {
        on_way[index_of(way.back().at)] = false;
        way.pop_back();
        continue;
      }
      const NodeId next = way.back().left.back();
      way.back().left.pop_back();
      if (on_way[index_of(next)]) {
        std::unordered_set<uint32_t> cycle;
        for (size_t i = way.size(); i-- > 0;) {
          cycle.insert(index_of(way[i].at));
          if (way[i].at == next) break;
        }
        NodeId value = next;
        for (const auto& one : values) {
          if (!one.second.of_copy || !cycle.contains(index_of(one.second.tensor.node))) continue;
          value = one.second.tensor.node;
          break;
        }
        throw refused("makes a cycle through '" + printable(reads_.copy_name(value)) + "'").of("input map");
      }
      if (!seen.add(next)) continue;
      on_way[index_of(next)] = true;
      way.push_back({next, sources(next)});
    }
  }
}

void CopyInputMap::drop_stale_shapes() {
  if (changed_.empty()) return;
  const std::unordered_set<TensorRef, TensorHash> changed(changed_.begin(), changed_.end());
  NodeSet stale(reads_.facts.graph().size());
  std::vector<NodeId> stack;
  reads_.each([&](NodeId reader, size_t, const TensorRef& tensor) {
    if (changed.contains(tensor) && stale.add(reader)) stack.push_back(reader);
  });
  while (!stack.empty()) {
    const NodeId at = stack.back();
    stack.pop_back();
    reads_.mapping.drop_output_shapes(at);
    for (const NodeId reader : reads_.facts.consumers().of(at)) {
      if (reads_.mapping.copied(reader) && stale.add(reader)) stack.push_back(reader);
    }
  }
}

}  // namespace gedit
