#include "edit/body_tensor.h"

#include "base/error.h"
#include "base/near.h"
#include "edit/places.h"
#include "graph/types.h"

namespace gedit {
namespace {

Error refused(std::string message) { return Error(Cause::kRefused, std::move(message)); }

std::string port_of(const OutputName& output) {
  return std::string(output.arg) + ":" + std::to_string(output.index);
}

bool is_number(std::string_view port) {
  return port.find_first_not_of("0123456789") == std::string_view::npos;
}

void find_argument(const Graph& body, std::string_view function, std::string_view text, const Input& input,
                   BodyTensor& tensor) {
  const OpDef signature = parse_op_def(function_signature(body));
  Near near(address(function, input.node));
  for (const ArgDef& arg : signature.inputs) {
    near.offer(address(function, arg.name));
    if (arg.name != input.node) continue;
    if (!arg.number_attr.empty() || !arg.type_list_attr.empty())
      throw refused("is a list of tensors").of(quoted("argument", address(function, text)));
    if (!whole_port(input.port).empty())
      throw refused("is one tensor").of(quoted("argument", address(function, arg.name)));
    if (arg.type_attr.empty()) tensor.type = DType{arg.type};
    if (arg.is_ref) tensor.type = reference_to(tensor.type);
    tensor.source = arg.name;
    return;
  }
  for (uint32_t i = 0; i < body.size(); ++i) near.offer(address(function, body.name(NodeId{i})));
  throw refused("no such node").of(quoted("node", address(function, input.node))).hint(near.did_you_mean());
}

void find_output(const Graph& body, Registry& ops, std::string_view function, std::string_view text,
                 const Input& input, BodyTensor& tensor) {
  const std::string_view node_def = body.bytes(tensor.node);
  const auto types = output_types(ops, node_def);
  const auto outputs = output_names(ops, node_def);
  const bool numbered = is_number(input.port);
  if (!outputs || !types) {
    if (numbered)
      throw refused("op '" + printable(node_op(node_def)) + "' is not known")
          .of(quoted("tensor", address(function, text)))
          .hint("--ops FILE");
    tensor.port = whole_port(input.port);
    return;
  }
  const std::string wanted = whole_port(input.port);
  size_t index = numbered ? input.index() : 0;
  while (!numbered && index < outputs->size() && port_of((*outputs)[index]) != wanted) ++index;
  if (index >= outputs->size()) {
    const size_t count = outputs->size();
    throw refused(quoted("node", input.node) + " (" + printable(node_op(node_def)) + ") has " +
                  (!numbered    ? "no such output"
                   : count == 0 ? "no outputs"
                                : std::to_string(count) + (count == 1 ? " output" : " outputs")))
        .of(quoted("tensor", address(function, text)));
  }
  tensor.index = static_cast<uint32_t>(index);
  tensor.port = port_of((*outputs)[index]);
  tensor.type = (*types)[index];
}

}  // namespace

std::string whole_port(std::string_view port) {
  if (port.empty()) return "";
  if (is_number(port)) return port == "0" ? "" : std::string(port);
  return port.find(':') == std::string_view::npos ? std::string(port) + ":0" : std::string(port);
}

BodyTensor find_body_tensor(const Graph& body, const Names& names, Registry& ops, std::string_view function,
                            std::string_view text) {
  const Input input = parse_body_input(text);
  if (input.control)
    throw refused("a control input is no tensor").of(quoted("tensor", address(function, text)));
  BodyTensor tensor;
  tensor.name = input.node;
  tensor.node = names.find(input.node);
  if (tensor.node == kNoNode) {
    find_argument(body, function, text, input, tensor);
    return tensor;
  }
  find_output(body, ops, function, text, input, tensor);
  tensor.source = tensor.name + ":" + tensor.port;
  return tensor;
}

}  // namespace gedit
