#include "edit/copying/new_inputs.h"

#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "edit/basis/addresses.h"
#include "edit/basis/inferred_shapes.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

std::string placeholder(const CopyReads& reads, const CopyRequest& request, const TensorRef& tensor,
                        InferredShapes& shapes, std::vector<std::string>& new_nodes) {
  const std::string_view node_def = reads.facts.graph().bytes(tensor.node);
  DType type = base_type(reads.facts.tensors().type(tensor));
  Shape shape;
  if (const auto stated = reads.selection.typed.find(tensor); stated != reads.selection.typed.end()) {
    type = *stated->second.dtype;
    shape = stated->second.shape;
  } else {
    shape = shapes.of(tensor);
  }
  if (type == DType::kInvalid) {
    const std::string known = reads.text(tensor) + (tensor.index == 0 ? ":0" : "");
    throw refused("unknown dtype, op '" + printable(node_op(node_def)) + "' is not known")
        .of(quoted("tensor", known))
        .hint("--inputs " + printable(reads.text(tensor)) + ":float32[?,8], or --ops");
  }
  // In place of a Placeholder it has the name that the copy of that would have; in place of a computed
  // tensor `_k` tells it from a copy of the op.
  std::string name = reads.copy_name(tensor.node);
  if (!is_placeholder_op(node_op(node_def)) || tensor.index > 0) name += "_" + std::to_string(tensor.index);
  reads.mapping.add_name(name);
  std::string shape_value;
  append_bytes_field(shape_value, attr_field::kShape, shape_proto(shape));
  NodeBuilder builder(name, "Placeholder");
  builder.device(request.device ? *request.device : std::string())
      .type("dtype", type)
      .attr("shape", shape_value);
  new_nodes.push_back(builder.take());
  return name;
}

// The Merge of a loop reads an Enter and a NextIteration, and nothing may come between, as for insert.
void check_no_loop(const CopyReads& reads, const TensorRef& tensor) {
  const Graph& graph = reads.facts.graph();
  if (tensor.node == kNoNode || !graph.is(tensor.node, OpKind::kEnter | OpKind::kNextIteration)) return;
  for (const NodeId reader : reads.facts.consumers().of(tensor.node)) {
    if (!reads.mapping.copied(reader) || !graph.is(reader, OpKind::kMerge)) continue;
    throw refused("read by '" + printable(graph.name(reader)) + "', which closes a loop")
        .of(quoted("tensor", reads.text(tensor)))
        .hint("--stop-gradient before the Enter, or inside the loop");
  }
}

void stop_gradient(const CopyReads& reads, const CopyRequest& request, const TensorRef& tensor, bool read,
                   CopyChanges& result, std::vector<std::string>& new_nodes) {
  if (!read)
    throw refused("is neither copied nor read by a copy")
        .of(quoted("tensor", reads.text(tensor)))
        .hint("--stop-gradient names tensors of the original");
  check_no_loop(reads, tensor);
  const DType type = base_type(reads.facts.tensors().type(tensor));
  if (type == DType::kInvalid) {
    throw refused("unknown dtype").of(quoted("tensor", reads.text(tensor))).hint("--ops FILE");
  }
  const bool argument = tensor.node == kNoNode;
  const std::string_view node_def = argument ? std::string_view() : reads.facts.graph().bytes(tensor.node);
  std::string name = argument ? reads.mapping.scope().of(reads.facts.tensors().input_text(tensor))
                              : reads.copy_name(tensor.node);
  name += "/StopGradient";
  if (tensor.index > 0 && !argument) name += "_" + std::to_string(tensor.index);
  reads.mapping.add_name(name);
  const std::string device = request.device ? *request.device : std::string(node_head(node_def).device);
  NodeBuilder builder(name, "StopGradient");
  builder.input(reads.mapping.source_of(tensor)).device(device).type("T", type);
  new_nodes.push_back(builder.take());
  reads.mapping.replace(tensor, reads.facts.in_body() ? name + ":output:0" : name, true);
  result.outputs[reads.text(tensor)] = address(reads.facts.tensors().function(), name);
}

}  // namespace

void add_placeholders(const CopyReads& reads, const CopyRequest& request, CopyChanges& result,
                      std::vector<std::string>& new_nodes) {
  std::unordered_map<TensorRef, std::string, TensorHash> made;
  InferredShapes shapes(reads.facts.graph(), reads.facts.ops);
  reads.each([&](NodeId reader, size_t slot, const TensorRef& tensor) {
    if (tensor.control || reads.mapping.copied(tensor.node) || reads.selection.shared.has(tensor.node))
      return;
    if (result.inputs.contains(reads.text(tensor)) && !made.contains(tensor)) return;  // mapped
    if (is_reference(reads.input_type(reader, slot))) {
      const std::string name(reads.facts.graph().name(tensor.node));
      const bool variable = is_variable_op(node_op(reads.facts.graph().bytes(tensor.node)));
      throw refused("reference needed by '" + printable(reads.facts.graph().name(reader)) +
                    "'; a Placeholder gives none")
          .of(quoted(variable ? "variable" : "tensor", name))
          .hint("select '" + printable(name) + "' too, or --share " + printable(name));
    }
    if (made.contains(tensor)) return;
    const std::string name = placeholder(reads, request, tensor, shapes, new_nodes);
    made.emplace(tensor, name);
    result.inputs[reads.text(tensor)] = name;
  });
  for (const auto& [tensor, name] : made) reads.mapping.replace(tensor, name);
}

void stop_gradients(const CopyReads& reads, const CopyRequest& request, CopyChanges& result,
                    std::vector<std::string>& new_nodes) {
  if (request.stop_gradient.empty()) return;
  std::unordered_set<TensorRef, TensorHash> read;
  reads.each([&](NodeId, size_t, const TensorRef& tensor) { read.insert(tensor); });
  for (const std::string& written : request.stop_gradient) {
    const TensorRef tensor = reads.facts.tensors().find(written);
    const bool known = reads.mapping.copied(tensor.node) || read.contains(tensor);
    stop_gradient(reads, request, tensor, known, result, new_nodes);
  }
}

}  // namespace gedit
