#include "edit/changing/set_shape.h"

#include "base/error.h"
#include "base/map_entry.h"
#include "base/message_edit.h"
#include "base/near.h"
#include "edit/basis/addresses.h"
#include "edit/basis/tensor_info.h"
#include "edit/changing/stale_sizes.h"
#include "graph/types.h"
#include "model/collections.h"
#include "ops/kinds.h"
#include "select/tensors.h"

namespace gedit {
namespace {

Shape shape_attr(std::string_view node_def) {
  const auto shape = find_attr(node_def, "shape");
  if (!shape) return std::nullopt;
  return parse_shape_proto(last_bytes(*shape, attr_field::kShape));
}

std::string shown(const Shape& shape) { return shape ? shape_text(shape) : "[*]"; }

// The node of the tensor T, which is its first output.
Graph& find_shaped_node(Setting& setting, const std::string& written, std::string& function, NodeId& id) {
  const bool of_signature = signature_tensor(setting.model, written).has_value();
  const Address at = of_signature ? Address{{}, written} : split_address(written);
  function = at.function;
  if (function.empty()) {
    const TensorRef tensor = find_tensor(setting.model, setting.selecting.names(), setting.ops, written);
    id = tensor.node;
    if (tensor.index > 0)
      find_tensor(setting.model, setting.selecting.names(), setting.ops,
                  tensor_text(setting.graph(), tensor));  // refuses it
    return setting.graph();
  }
  Graph& body = find_function(setting.selecting.library(), function).body;
  body.decode();
  const Input input = parse_body_input(at.rest);
  id = setting.names(function).find(input.node);
  if (id != kNoNode) return body;
  Near near(address(function, input.node));
  for (uint32_t i = 0; i < body.size(); ++i) near.offer(address(function, body.name(NodeId{i})));
  throw refused("no such node").of(quoted("node", address(function, input.node))).hint(near.did_you_mean());
}

// The TensorInfo of every signature that names the node's output.
void set_signature_shapes(Setting& setting, std::string_view node, const std::string& proto, bool follows) {
  constexpr uint32_t kInputs = 1, kOutputs = 2;
  std::vector<std::string> signatures;
  bool changed = false;
  for (const std::string_view bytes : setting.model.meta().parts_of(meta_field::kSignature)) {
    const MapEntry signature = map_entry(bytes);
    std::string def;
    bool here = false;
    for (Fields fields(signature.value); fields.next();) {
      const bool tensors = fields->bytes(kInputs) || fields->bytes(kOutputs);
      const MapEntry info = tensors ? map_entry(fields->value) : MapEntry();
      const Input tensor = parse_input(last_bytes(info.value, tensor_info_field::kName));
      if (!tensors || tensor.node != node || tensor.index() != 0 || tensor.control ||
          last_bytes(info.value, tensor_info_field::kShape) == proto) {
        def += fields->raw;
        continue;
      }
      append_map_entry(def, fields->number, info.key,
                       with_field(info.value, tensor_info_field::kShape, proto));
      here = true;
      setting.say("",
                  std::string(signature.key) + (fields->number == kInputs ? ".inputs[" : ".outputs[") +
                      std::string(info.key) + "]",
                  "shape " + shown(parse_shape_proto(proto)));
    }
    signatures.push_back(here ? map_entry_bytes(signature.key, def) : std::string(bytes));
    changed = changed || here;
  }
  if (!changed) return;
  setting.model.meta().set_parts(meta_field::kSignature, std::move(signatures));
  if (!follows && setting.model.meta().has(meta_field::kObjectGraph)) {
    setting.changes.warnings.push_back("tf.saved_model.load goes by the functions, where '" +
                                       printable(node) + "' keeps its shape; hint: --follow");
  }
}

}  // namespace

void set_shape(Setting& setting, const std::string& text, ShapeFollowing* following) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) throw misused(text, "is no T=SHAPE");
  const std::string written = text.substr(0, equals);
  const Shape shape = parse_shape(text.substr(equals + 1));
  std::string function;
  NodeId id = kNoNode;
  Graph& where = find_shaped_node(setting, written, function, id);
  const std::string_view node_def = where.bytes(id), op = node_op(node_def);
  const std::string name = address(function, node_name(node_def));
  const bool variable = is_variable_op(op);
  if (!variable && !is_placeholder_op(op)) {
    throw refused(quoted("node", name) + " (" + printable(op) + ") has no shape of its own")
        .of(quoted("tensor", written))
        .hint("--shape is for placeholders and variables");
  }
  if (following != nullptr && !function.empty())
    throw refused("--follow is for tensors of the main graph").of(quoted("tensor", written));
  const Shape before = shape_attr(node_def);
  const std::string proto = shape_proto(shape);
  std::string value;
  append_bytes_field(value, attr_field::kShape, proto);
  std::string edited = with_attr(node_def, "shape", value);
  // What a handle gives stays a handle. Else the node's own `_output_shapes` is known anew.
  const bool handle = is_var_handle_op(op);
  if (!handle && find_attr(node_def, "_output_shapes")) {
    std::string list, shapes;
    append_bytes_field(list, attr_field::kShape, proto);
    append_bytes_field(shapes, attr_field::kList, list);
    edited = with_attr(edited, "_output_shapes", shapes);
  }
  if (!handle && function.empty())
    set_signature_shapes(setting, node_name(node_def), proto, following != nullptr);
  if (edited == node_def) return;
  setting.say(function, node_name(node_def), "shape " + shown(before) + " -> " + shown(shape));
  const std::string plain(node_name(node_def));
  setting.replace(where, id, std::move(edited));
  if (before && shape && *before == *shape) return;
  if (following != nullptr) {
    setting.state({id, 0, shape});
    return following->add({id, before, shape});
  }
  for (const NodeId reader : setting.consumers(function).of(id)) {
    each_input(where.bytes(reader), [&](std::string_view input) {
      const Input parsed = parse_input_of(where, input);
      if (!parsed.control && parsed.node == plain) setting.mark_stale(where, function, reader);
    });
  }
  for (const OldSize& old : old_sizes(where, setting.names(function), setting.consumers(function),
                                      setting.ops, id, before, shape)) {
    setting.changes.warnings.push_back(
        "'" + printable(address(function, where.name(old.constant))) + "' holds " + std::to_string(old.size) +
        ", the old size of dimension " + std::to_string(old.dimension) + " of '" + printable(name) + "'");
  }
}

}  // namespace gedit
