#include "model/saver_functions.h"

#include <charconv>

#include "graph/references.h"
#include "model/collections.h"
#include "model/savers.h"

namespace gedit {
namespace {

constexpr int kLongestWay = 16;  // nodes between a restored tensor and its assignment

constexpr int kMostCalls = 10'000;  // savers have a handful; what nests more is no saver

class KeyReader {
 public:
  explicit KeyReader(Library& library) {
    for (Function& function : library.functions) functions_.emplace(function.name, &function);
  }

  // `arguments`: what the call passes, a variable's node or kNoNode.
  void call(std::string_view name, const std::vector<NodeId>& arguments, int depth) {
    const auto found = functions_.find(name);
    if (found == functions_.end() || depth > kDeepest || ++calls_ > kMostCalls) return;
    Graph& body = found->second->body;
    body.decode();
    const Names names(body);
    std::unordered_map<std::string_view, NodeId> passed;
    const std::vector<std::string_view> parameters = argument_names(function_signature(body));
    for (size_t i = 0; i < parameters.size() && i < arguments.size(); ++i)
      passed.emplace(parameters[i], arguments[i]);
    const auto variable = [&](std::string_view text) {
      const auto argument = passed.find(text);
      return argument == passed.end() ? kNoNode : argument->second;
    };
    for (uint32_t i = 0; i < body.size(); ++i) {
      const std::string_view node_def = body.bytes(NodeId{i});
      std::vector<std::string_view> inputs;
      each_input(node_def, [&](std::string_view text) { inputs.push_back(text); });
      if (is_assign_op(node_op(node_def)) && inputs.size() >= 2) {
        const NodeId target = variable(inputs[0]);
        if (target == kNoNode) continue;
        if (std::optional<std::string> key = key_behind(body, names, inputs[1]))
          keys_.emplace(index_of(target), std::move(*key));
      } else if (const std::string_view inner = called_function(node_def); functions_.contains(inner)) {
        std::vector<NodeId> handles;
        bool any = false;
        for (const std::string_view text : inputs) {
          handles.push_back(variable(text));
          any = any || handles.back() != kNoNode;
        }
        if (any) call(inner, handles, depth + 1);
      }
    }
  }

  std::unordered_map<uint32_t, std::string> take() { return std::move(keys_); }

 private:
  std::optional<std::string> key_behind(const Graph& body, const Names& names, std::string_view text) const {
    for (int step = 0; step < kLongestWay; ++step) {
      const Input input = parse_body_input(text);
      const NodeId id = input.control ? kNoNode : names.find(input.node);
      if (id == kNoNode) return std::nullopt;
      const std::string_view node_def = body.bytes(id);
      std::vector<std::string_view> inputs;
      each_input(node_def, [&](std::string_view one) { inputs.push_back(one); });
      if (is_restore_op(node_op(node_def))) {
        if (inputs.size() < 2) return std::nullopt;
        const NodeId keys = names.find(parse_body_input(inputs[1]).node);
        const auto strings = keys == kNoNode ? std::nullopt : string_const(body.bytes(keys));
        const size_t colon = input.port.rfind(':');
        const std::string number(colon == std::string_view::npos ? "0" : input.port.substr(colon + 1));
        uint32_t output = 0;
        std::from_chars(number.data(), number.data() + number.size(), output);
        if (!strings || output >= strings->size()) return std::nullopt;
        return (*strings)[output];
      }
      if (node_op(node_def) != "Identity" && node_op(node_def) != "Cast") return std::nullopt;
      if (inputs.empty()) return std::nullopt;
      text = inputs[0];
    }
    return std::nullopt;
  }

  std::unordered_map<std::string_view, Function*> functions_;
  std::unordered_map<uint32_t, std::string> keys_;
  int calls_ = 0;
};

}  // namespace

std::unordered_map<uint32_t, std::string> keys_in_functions(const MetaGraph& meta, const Names& names,
                                                            Library& library) {
  if (!meta.has(meta_field::kSaver)) return {};
  const NodeId restore = names.find(node_of(last_bytes(meta.part(meta_field::kSaver), 3)));
  if (restore == kNoNode) return {};
  const std::string_view node_def = meta.graph.bytes(restore);
  std::vector<NodeId> arguments;
  each_input(node_def, [&](std::string_view text) {
    const NodeId id = names.find(parse_input(text).node);
    const bool variable = id != kNoNode && is_variable_op(node_op(meta.graph.bytes(id)));
    arguments.push_back(variable ? id : kNoNode);
  });
  KeyReader reader(library);
  reader.call(called_function(node_def), arguments, 0);
  return reader.take();
}

}  // namespace gedit
