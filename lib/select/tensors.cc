#include "select/tensors.h"

#include <algorithm>

#include "base/error.h"
#include "base/near.h"
#include "base/number.h"
#include "base/size.h"
#include "graph/function_places.h"
#include "graph/library.h"
#include "graph/wiring.h"

namespace gedit {
namespace {

constexpr size_t kFewTensors = 6;

// `KEY.inputs[x], KEY.outputs[y]` of a signature; empty where there is none of that key.
std::string tensors_of_signature(const Model& model, std::string_view key) {
  std::string tensors;
  size_t count = 0;
  for (const std::string_view bytes : model.meta().parts_of(meta_field::kSignature)) {
    const MapEntry signature = map_entry(bytes);
    if (signature.key != key) continue;
    for (Fields fields(signature.value); fields.next();) {
      if (!fields->bytes(1) && !fields->bytes(2)) continue;
      if (++count > kFewTensors) return tensors + ", ...";
      tensors += (tensors.empty() ? "" : ", ") + printable(key) +
                 (fields->number == 1 ? ".inputs[" : ".outputs[") + printable(map_entry(fields->value).key) +
                 "]";
    }
  }
  return tensors;
}

Error no_such_node(const Model& model, std::string_view name) {
  const Error error = Error(Cause::kRefused, "no such node").of(quoted("node", name));
  if (const std::string tensors = tensors_of_signature(model, name); !tensors.empty())
    return error.hint("it is a signature: " + tensors);
  const Graph& graph = model.graph();
  if (const std::string place = place_in_functions(graph.part(graph_field::kLibrary), *graph.arena(), name);
      !place.empty())
    return error.hint(place);
  Near near(name);
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (!graph.removed(NodeId{i})) near.offer(graph.name(NodeId{i}));
  }
  std::string hint = near.did_you_mean();
  if (hint.empty() && !split_address(name).function.empty())
    hint = "gedit extract --outputs " + printable(name) + " brings out what is inside a function";
  return error.hint(hint);
}

void check_output_of(const Graph& graph, Registry& ops, const TensorRef& tensor, std::string_view written) {
  const std::string_view node_def = graph.bytes(tensor.node);
  const std::optional<size_t> count = output_count(ops, node_def);
  if (!count || tensor.index < *count) return;
  throw Error(Cause::kRefused, quoted("node", graph.name(tensor.node)) + " (" + printable(node_op(node_def)) +
                                   ") has " + counted_or_no(*count, "output"))
      .of(quoted("tensor", written));
}

}  // namespace

bool says_scalar_of_unknown(const Graph& graph, NodeId id) {
  constexpr uint64_t kScalarIsScalar = 24;
  return last_varint(graph.part(graph_field::kVersions), 1) < kScalarIsScalar &&
         graph.is(id, OpKind::kMustBeFed);
}

std::string tensor_text(const Graph& graph, const TensorRef& tensor) {
  if (tensor.control) return "^" + std::string(graph.name(tensor.node));
  return tensor_text(graph.name(tensor.node), tensor.index);
}

std::optional<TensorRef> tensor_if_there(const Names& names, std::string_view text) {
  const Input input = parse_input(text);
  const NodeId node = names.find(input.node);
  if (node == kNoNode) return std::nullopt;
  return TensorRef{node, input.index(), input.control};
}

TensorRef find_tensor(const Model& model, const Names& names, Registry& ops, std::string_view text,
                      bool control) {
  const std::optional<std::string> of_signature = signature_tensor(model, text);
  if (of_signature) text = *of_signature;
  const Graph& graph = model.graph();
  const Input input = parse_input(text);
  if (input.control && !control)
    throw Error(Cause::kRefused, "a control input is no tensor").of(quoted("tensor", text));
  const NodeId node = names.find(input.node);
  if (node == kNoNode) throw no_such_node(model, input.node);
  const TensorRef tensor{node, input.index(), input.control};
  if (!input.control && !input.port.empty()) check_output_of(graph, ops, tensor, text);
  return tensor;
}

Address split_address(std::string_view text) {
  const size_t slashes = text.find("//");
  if (slashes == std::string_view::npos || slashes == 0) return {{}, text};
  return {text.substr(0, slashes), text.substr(slashes + 2)};
}

std::string address(std::string_view function, std::string_view name) {
  if (function.empty()) return std::string(name);
  return std::string(function) + "//" + std::string(name);
}

Tensors::Tensors(const Model& model, const Graph& graph, const Names& names, Registry& ops,
                 std::string_view function)
    : model_(model), graph_(graph), names_(names), ops_(ops), function_(function) {
  if (graph_.is_body()) arguments_ = parse_op_def(function_signature(graph_)).inputs;
}

size_t Tensors::argument(std::string_view name) const {
  size_t index = 0;
  while (index < arguments_.size() && arguments_[index].name != name) ++index;
  return index;
}

std::optional<TensorRef> Tensors::of_input(std::string_view text) const {
  if (!graph_.is_body()) return tensor_if_there(names_, text);
  const Input input = parse_body_input(text);
  const NodeId node = names_.find(input.node);
  if (node == kNoNode) {
    const size_t index = argument(input.node);
    if (index == arguments_.size() || input.control) return std::nullopt;
    return TensorRef{kNoNode, static_cast<uint32_t>(index), false};
  }
  if (input.control) return TensorRef{node, 0, true};
  return TensorRef{
      node,
      body_output_index(ops_, graph_.bytes(node), input.port).value_or(parse_body_port(input.port).number),
      false};
}

TensorRef Tensors::find(std::string_view written, bool control) const {
  if (!graph_.is_body()) return find_tensor(model_, names_, ops_, written, control);
  const bool caret = written.starts_with('^');
  const Address parts = split_address(written.substr(caret ? 1 : 0));
  if (!parts.function.empty() && parts.function != function_) {
    throw Error(Cause::kRefused, "lies in another function than '" + printable(function_) + "'")
        .of(quoted("tensor", written));
  }
  return find_in_body((caret ? "^" : "") + std::string(parts.rest), control);
}

TensorRef Tensors::find_in_body(std::string_view written, bool control) const {
  const Input input = parse_body_input(written);
  const auto refuse = [&](const std::string& message) {
    return Error(Cause::kRefused, message).of(quoted("tensor", address(function_, written)));
  };
  if (input.control && !control) throw refuse("a control input is no tensor");
  const NodeId node = names_.find(input.node);
  if (node == kNoNode) {
    const size_t index = argument(input.node);
    if (index < arguments_.size() && !input.control) {
      if (!arguments_[index].number_attr.empty() || !arguments_[index].type_list_attr.empty())
        throw refuse("is a list of tensors");
      if (!input.port.empty() && input.port != "0") throw refuse("is one tensor");
      return {kNoNode, static_cast<uint32_t>(index), false};
    }
    Near near(address(function_, input.node));
    for (const ArgDef& arg : arguments_) near.offer(address(function_, arg.name));
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      if (!graph_.removed(NodeId{i})) near.offer(address(function_, graph_.name(NodeId{i})));
    }
    throw Error(Cause::kRefused, "no such node")
        .of(quoted("node", address(function_, input.node)))
        .hint(near.did_you_mean());
  }
  if (input.control) return {node, 0, true};
  const std::string op(graph_.op(node));
  const auto outputs = output_names(ops_, graph_.bytes(node));
  if (!outputs) throw refuse("op '" + printable(op) + "' is not known").hint("--ops FILE");
  if (input.port.find_first_not_of("0123456789") != std::string_view::npos) {
    const std::string port = std::string(input.port) + (input.port.find(':') == input.port.npos ? ":0" : "");
    const auto found = std::find_if(outputs->begin(), outputs->end(), [&](const OutputName& output) {
      return std::string(output.arg) + ":" + std::to_string(output.index) == port;
    });
    if (found == outputs->end())
      throw refuse(quoted("node", input.node) + " (" + printable(op) + ") has no such output");
    return {node, static_cast<uint32_t>(found - outputs->begin()), false};
  }
  const uint32_t index = input.index();
  if (!input.port.empty() && index >= outputs->size()) {
    throw refuse(quoted("node", input.node) + " (" + printable(op) + ") has " +
                 counted_or_no(outputs->size(), "output"));
  }
  return {node, index, false};
}

void Tensors::check_output(const TensorRef& tensor) const {
  if (!tensor.control && tensor.node != kNoNode) check_output_of(graph_, ops_, tensor, text(tensor));
}

std::string Tensors::input_text(const TensorRef& tensor) const {
  return input_text(tensor,
                    tensor.node == kNoNode ? arguments_[tensor.index].name : graph_.name(tensor.node));
}

std::string Tensors::input_text(const TensorRef& tensor, std::string_view node) const {
  if (tensor.control) return "^" + std::string(node);
  if (!graph_.is_body()) return tensor_text(node, tensor.index);
  if (tensor.node == kNoNode) return std::string(node);
  const auto text = body_output_text(ops_, graph_.bytes(tensor.node), node, tensor.index);
  if (text) return *text;
  throw Error(Cause::kRefused, "has no output " + std::to_string(tensor.index))
      .of(quoted("node", address(function_, graph_.name(tensor.node))));
}

std::string Tensors::text(const TensorRef& tensor) const {
  if (tensor.node == kNoNode) return address(function_, arguments_[tensor.index].name);
  if (tensor.control) return "^" + address(function_, graph_.name(tensor.node));
  return address(function_, tensor_text(graph_.name(tensor.node), tensor.index));
}

DType Tensors::type(const TensorRef& tensor) const {
  if (tensor.control) return DType::kInvalid;
  if (tensor.node == kNoNode) {
    const ArgDef& arg = arguments_[tensor.index];
    const DType type = arg.type_attr.empty() ? DType{arg.type} : DType::kInvalid;
    return arg.is_ref ? reference_to(type) : type;
  }
  return output_type(ops_, graph_.bytes(tensor.node), tensor.index);
}

Shape Tensors::shape(const TensorRef& tensor) const {
  if (tensor.node == kNoNode) return std::nullopt;
  return output_shape(graph_.bytes(tensor.node), tensor.index);
}

TypedTensor parse_typed_tensor(std::string_view text) {
  // A dtype is a word behind the last colon that is in front of any bracket.
  const size_t bracket = text.ends_with(']') ? text.find('[') : std::string_view::npos;
  const size_t colon = text.substr(0, bracket).rfind(':');
  if (colon == std::string_view::npos) return {std::string(text), std::nullopt, std::nullopt};
  const std::string_view word =
      text.substr(colon + 1, bracket == std::string_view::npos ? bracket : bracket - colon - 1);
  if (bracket == std::string_view::npos && !word.empty() &&
      word.find_first_not_of("0123456789") == std::string_view::npos) {
    return {std::string(text), std::nullopt, std::nullopt};
  }
  const std::optional<DType> dtype = parse_dtype(word);
  if (!dtype) {
    Near near(word);
    for (int32_t number = 1; number < 34; ++number) near.offer(dtype_name(DType{number}));
    throw Error(Cause::kUsage, quoted("dtype", word) + " is unknown")
        .of(quoted("tensor", text))
        .hint(near.did_you_mean());
  }
  TypedTensor typed{std::string(text.substr(0, colon)), dtype, std::nullopt};
  if (bracket != std::string_view::npos) typed.shape = parse_shape(text.substr(bracket));
  return typed;
}

Shape parse_shape(std::string_view text) {
  const std::string_view written = text;
  const auto no_shape = [&] {
    return Error(Cause::kUsage, "is no shape").of(quoted("shape", written)).hint("[?,224,3]");
  };
  if (text == "[*]") return std::nullopt;
  if (!text.starts_with('[') || !text.ends_with(']') || text.size() < 2) throw no_shape();
  text = text.substr(1, text.size() - 2);
  std::vector<int64_t> dims;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    std::string_view dim = text.substr(0, comma);
    if (comma != std::string_view::npos && comma + 1 == text.size()) throw no_shape();
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    while (dim.starts_with(' ')) dim.remove_prefix(1);
    while (dim.ends_with(' ')) dim.remove_suffix(1);
    if (dim == "?" || dim == "None" || dim == "-1") {
      dims.push_back(-1);
      continue;
    }
    const std::optional<int64_t> size = read_number<int64_t>(dim);
    if (!size || *size < 0) throw no_shape();
    dims.push_back(*size);
  }
  return dims;
}

std::optional<std::string> signature_tensor(const Model& model, std::string_view text) {
  if (!text.ends_with(']')) return std::nullopt;
  for (const auto& [word, field] : {std::pair<std::string_view, uint32_t>{".inputs[", 1}, {".outputs[", 2}}) {
    const size_t at = text.find(word);
    if (at == std::string_view::npos) continue;
    const std::string_view key = text.substr(0, at);
    const std::string_view wanted = text.substr(at + word.size(), text.size() - at - word.size() - 1);
    Near keys(key);
    for (const std::string_view bytes : model.meta().parts_of(meta_field::kSignature)) {
      const MapEntry signature = map_entry(bytes);
      if (!signature.key.starts_with("__saved_model_")) keys.offer(signature.key);
      if (signature.key != key) continue;
      Near names(wanted);
      for (Fields fields(signature.value); fields.next();) {
        if (!fields->bytes(field)) continue;
        const MapEntry info = map_entry(fields->value);
        names.offer(info.key);
        if (info.key != wanted) continue;
        const std::string_view name = last_bytes(info.value, 1);
        if (name.empty()) throw Error(Cause::kRefused, "is no dense tensor").of(quoted("tensor", text));
        return std::string(name);
      }
      throw Error(Cause::kRefused,
                  std::string("no such ") + (field == 1 ? "input" : "output") + " in the signature")
          .of(quoted("tensor", text))
          .hint(names.did_you_mean_or_all());
    }
    throw Error(Cause::kRefused, "no such signature")
        .of(quoted("signature", key))
        .hint(keys.did_you_mean_or_all());
  }
  return std::nullopt;
}

}  // namespace gedit
