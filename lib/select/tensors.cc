#include "select/tensors.h"

#include <charconv>

#include "base/error.h"
#include "base/near.h"

namespace gedit {
namespace {

Error no_such_node(const Graph& graph, std::string_view name) {
  Near near(name);
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (!graph.removed(NodeId{i})) near.offer(graph.name(NodeId{i}));
  }
  return Error(Cause::kRefused, "no such node").of(quoted("node", name)).hint(near.did_you_mean());
}

}  // namespace

std::string tensor_text(std::string_view node, uint32_t index) {
  std::string text(node);
  if (index > 0) text += ":" + std::to_string(index);
  return text;
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
  if (const std::optional<std::string> name = signature_tensor(model, text)) {
    return find_tensor(model, names, ops, *name, control);
  }
  const Graph& graph = model.graph();
  const Input input = parse_input(text);
  if (input.control && !control)
    throw Error(Cause::kRefused, "a control input is no tensor").of(quoted("tensor", text));
  const NodeId node = names.find(input.node);
  if (node == kNoNode) throw no_such_node(graph, input.node);
  const TensorRef tensor{node, input.index(), input.control};
  if (input.control || input.port.empty()) return tensor;
  const std::string_view node_def = graph.bytes(node);
  const auto types = output_types(ops, node_def);
  if (types && tensor.index >= types->size()) {
    const size_t count = types->size();
    throw Error(
        Cause::kRefused,
        quoted("node", input.node) + " (" + printable(node_op(node_def)) + ") has " +
            (count == 0 ? "no outputs" : std::to_string(count) + (count == 1 ? " output" : " outputs")))
        .of(quoted("tensor", text));
  }
  return tensor;
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
  const Error error = Error(Cause::kUsage, "is no shape").of(quoted("shape", text)).hint("[?,224,3]");
  if (text == "[*]") return std::nullopt;
  if (!text.starts_with('[') || !text.ends_with(']') || text.size() < 2) throw error;
  text = text.substr(1, text.size() - 2);
  std::vector<int64_t> dims;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    std::string_view dim = text.substr(0, comma);
    if (comma != std::string_view::npos && comma + 1 == text.size()) throw error;
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    while (dim.starts_with(' ')) dim.remove_prefix(1);
    while (dim.ends_with(' ')) dim.remove_suffix(1);
    if (dim == "?" || dim == "None" || dim == "-1") {
      dims.push_back(-1);
      continue;
    }
    int64_t size = -1;
    const auto [end, code] = std::from_chars(dim.data(), dim.data() + dim.size(), size);
    if (code != std::errc{} || end != dim.data() + dim.size() || size < 0) throw error;
    dims.push_back(size);
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
      keys.offer(signature.key);
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
          .hint(names.did_you_mean());
    }
    throw Error(Cause::kRefused, "no such signature").of(quoted("signature", key)).hint(keys.did_you_mean());
  }
  return std::nullopt;
}

}  // namespace gedit
