#include "edit/copying/input_map.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "base/near.h"
#include "edit/basis/addresses.h"
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
    return {tensor, false, reads_.facts.tensors().input_text(tensor)};
  }
  std::string name = (control ? "^" : "") + std::string(reads_.facts.graph().name(original));
  if (!input.port.empty()) name += ":" + std::string(input.port);
  const TensorRef tensor = reads_.facts.tensors().find(name, true);
  return {tensor, true, reads_.facts.tensors().input_text(tensor, input.node)};
}

void CopyInputMap::apply(std::map<std::string, std::string>& inputs) {
  if (reads_.selection.input_map.empty()) return;
  std::unordered_map<TensorRef, size_t, TensorHash> reads;
  reads_.each([&](NodeId, size_t, const TensorRef& tensor) { ++reads[tensor]; });
  std::vector<std::pair<TensorRef, Value>> values;
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
  for (const auto& [key, value] : values) check_types(key, value);
  for (const auto& [key, value] : values) {
    reads_.mapping.replace(key, value.text);
    inputs[reads_.text(key)] = value.text;
    const Shape was = reads_.facts.tensors().shape(key);
    const Shape now = reads_.facts.tensors().shape(value.tensor);
    const bool same = was && now && *was == *now &&
                      reads_.facts.tensors().type(key) == reads_.facts.tensors().type(value.tensor);
    if (!key.control && !same) changed_.push_back(key);
  }
  for (const auto& [key, value] : values) {
    if (value.of_copy) check_cycle(value.tensor.node, values);
  }
}

void CopyInputMap::check_types(const TensorRef& key, const Value& value) const {
  const DType type = reads_.facts.tensors().type(value.tensor);
  if (key.control || type == DType::kInvalid || type == reads_.facts.tensors().type(key)) return;
  reads_.each([&](NodeId reader, size_t slot, const TensorRef& tensor) {
    if (!(tensor == key)) return;
    const DType wanted = reads_.input_type(reader, slot);
    if (fits(type, wanted)) return;
    throw refused("passed " + dtype_name(type) + " where '" + printable(reads_.copy_name(reader)) +
                  "' reads " + dtype_name(wanted))
        .of(quoted("tensor", value.text));
  });
}

void CopyInputMap::check_cycle(NodeId start, const std::vector<std::pair<TensorRef, Value>>& values) const {
  NodeSet seen(reads_.facts.graph().size());
  std::vector<NodeId> stack{start};
  while (!stack.empty()) {
    const NodeId at = stack.back();
    stack.pop_back();
    const bool merge = is_merge_op(node_op(reads_.facts.graph().bytes(at)));
    each_input(reads_.facts.graph().bytes(at), [&](std::string_view input) {
      const std::optional<TensorRef> tensor = reads_.facts.tensors().of_input(input);
      if (!tensor) return;
      NodeId next = reads_.mapping.copied(tensor->node) ? tensor->node : kNoNode;
      for (const auto& [key, value] : values) {
        if (key == *tensor) next = value.of_copy ? value.tensor.node : kNoNode;
      }
      if (next == kNoNode || (merge && is_next_iteration_op(node_op(reads_.facts.graph().bytes(next)))))
        return;
      if (next == start) {
        throw refused("makes a cycle through '" + printable(reads_.copy_name(start)) + "'").of("input map");
      }
      if (seen.add(next)) stack.push_back(next);
    });
  }
}

void CopyInputMap::drop_stale_shapes() {
  if (changed_.empty()) return;
  NodeSet stale(reads_.facts.graph().size());
  std::vector<NodeId> stack;
  reads_.each([&](NodeId reader, size_t, const TensorRef& tensor) {
    if (std::find(changed_.begin(), changed_.end(), tensor) != changed_.end() && stale.add(reader))
      stack.push_back(reader);
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
