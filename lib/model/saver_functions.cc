#include "model/saver_functions.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include "graph/library.h"
#include "graph/references.h"
#include "model/collections.h"
#include "model/savers.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr int kLongestWayInBody = 16;  // nodes between an argument and its saver; savers have one to three
constexpr uint32_t kFirstTensor = 3;   // inputs of SaveV2 before the tensors

// The number of the output: `tensors:2` is 2.
uint32_t port_number(std::string_view port) {
  const size_t colon = port.rfind(':');
  const std::string_view digits = colon == std::string_view::npos ? port : port.substr(colon + 1);
  uint32_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

class Reading {
 public:
  Reading(const Graph& body, const Names& names) : body_(body), names_(names) {}

  std::vector<SaverInFunction> run() {
    std::vector<SaverInFunction> found;
    for (uint32_t i = 0; i < body_.size(); ++i) {
      if (body_.removed(NodeId{i})) continue;
      const std::string_view op = node_op(body_.bytes(NodeId{i}));
      if (is_save_v2_op(op) || is_restore_v2_op(op)) found.push_back(read(NodeId{i}, is_save_v2_op(op)));
    }
    return found;
  }

 private:
  std::vector<std::string_view> inputs_of(NodeId id) const { return input_views(body_.bytes(id)); }

  NodeId const_at(const std::vector<std::string_view>& inputs, size_t slot) const {
    if (slot >= inputs.size()) return kNoNode;
    const NodeId id = names_.find(parse_body_input(inputs[slot]).node);
    return id != kNoNode && string_const(body_.bytes(id)) ? id : kNoNode;
  }

  SaverInFunction read(NodeId id, bool saves) {
    const std::vector<std::string_view> inputs = inputs_of(id);
    SaverInFunction saver;
    saver.node = id;
    saver.saves = saves;
    saver.names = const_at(inputs, 1);
    saver.slices = const_at(inputs, 2);
    if (saver.names == kNoNode) return saver;
    const std::vector<std::string> keys = *string_const(body_.bytes(saver.names));
    const std::vector<std::string> slices =
        saver.slices == kNoNode ? std::vector<std::string>() : *string_const(body_.bytes(saver.slices));
    for (uint32_t slot = 0; slot < keys.size(); ++slot) {
      SavedArgument tensor;
      tensor.slot = slot;
      tensor.key = keys[slot];
      if (slot < slices.size()) tensor.slice = slices[slot];
      if (saves && kFirstTensor + slot < inputs.size()) back(inputs[kFirstTensor + slot], tensor);
      saver.tensors.push_back(std::move(tensor));
    }
    if (!saves) follow(saver);
    return saver;
  }

  // From what is saved to the argument.
  void back(std::string_view input, SavedArgument& tensor) const {
    for (int step = 0; step < kLongestWayInBody; ++step) {
      const Input parsed = parse_body_input(input);
      if (parsed.control) break;
      const NodeId id = names_.find(parsed.node);
      if (id == kNoNode) {
        tensor.argument = parsed.node;
        return;
      }
      if (!is(node_op(body_.bytes(id)), OpKind::kPassesSaved)) break;
      tensor.between.insert(tensor.between.begin(), id);
      const std::vector<std::string_view> inputs = inputs_of(id);
      if (inputs.empty()) break;
      input = inputs[0];
    }
    tensor.between.clear();
  }

  // From what is restored to the assignments.
  void follow(SaverInFunction& saver) {
    if (readers_.empty()) {
      for (uint32_t i = 0; i < body_.size(); ++i) {
        if (body_.removed(NodeId{i})) continue;
        const std::string_view op = node_op(body_.bytes(NodeId{i}));
        const bool ends = is(op, OpKind::kTakesRestored);
        if (!ends && !is(op, OpKind::kPassesSaved)) continue;
        const std::vector<std::string_view> inputs = inputs_of(NodeId{i});
        const size_t last = is_table_import_op(op) ? 3 : ends ? 2 : 1;
        for (size_t slot = ends ? 1 : 0; slot < std::min(last, inputs.size()); ++slot) {
          const Input value = parse_body_input(inputs[slot]);
          const NodeId source = value.control ? kNoNode : names_.find(value.node);
          if (source != kNoNode)
            readers_[uint64_t{index_of(source)} << 32 | port_number(value.port)] = {
                NodeId{i}, static_cast<uint32_t>(slot)};
        }
      }
    }
    for (SavedArgument& tensor : saver.tensors) {
      uint64_t at = uint64_t{index_of(saver.node)} << 32 | tensor.slot;
      for (int step = 0; step < kLongestWayInBody; ++step) {
        const auto reader = readers_.find(at);
        if (reader == readers_.end()) break;
        const auto [id, slot] = reader->second;
        tensor.between.push_back(id);
        if (is(node_op(body_.bytes(id)), OpKind::kTakesRestored)) {
          const Input handle = parse_body_input(inputs_of(id)[0]);
          if (names_.find(handle.node) == kNoNode) tensor.argument = handle.node;
          tensor.taken_at = slot;
          break;
        }
        at = uint64_t{index_of(id)} << 32;
      }
      if (tensor.argument.empty()) tensor.between.clear();
    }
  }

  const Graph& body_;
  const Names& names_;
  // Of a node's output, what hands it on or takes it, and at which input.
  std::unordered_map<uint64_t, std::pair<NodeId, uint32_t>> readers_;
};

}  // namespace

std::vector<SaverInFunction> savers_in(const Graph& body, const Names& names) {
  return Reading(body, names).run();
}

namespace {

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
    std::unordered_map<std::string_view, NodeId> passed;
    const std::vector<std::string_view> parameters = argument_names(function_signature(body));
    for (size_t i = 0; i < parameters.size() && i < arguments.size(); ++i)
      passed.emplace(parameters[i], arguments[i]);
    const auto variable = [&](std::string_view argument) {
      const auto at = passed.find(argument);
      return at == passed.end() ? kNoNode : at->second;
    };
    for (const SaverInFunction& saver : savers_in(body, Names(body))) {
      if (saver.saves) continue;
      for (const SavedArgument& tensor : saver.tensors) {
        if (const NodeId id = variable(tensor.argument); id != kNoNode)
          keys_.emplace(index_of(id), tensor.key);
      }
    }
    for (uint32_t i = 0; i < body.size(); ++i) {
      const std::string_view node_def = body.bytes(NodeId{i});
      const std::string_view inner = called_function(node_def);
      if (!functions_.contains(inner)) continue;
      std::vector<NodeId> handles;
      each_input(node_def, [&](std::string_view text) { handles.push_back(variable(text)); });
      const bool any = std::any_of(handles.begin(), handles.end(), [](NodeId id) { return id != kNoNode; });
      if (any) call(inner, handles, depth + 1);
    }
  }

  std::unordered_map<uint32_t, std::string> take() { return std::move(keys_); }

 private:
  std::unordered_map<std::string_view, Function*> functions_;
  std::unordered_map<uint32_t, std::string> keys_;
  int calls_ = 0;
};

}  // namespace

std::vector<NodeId> saver_calls(const MetaGraph& meta, const Names& names,
                                const std::function<bool(std::string_view)>& is_function,
                                std::vector<NodeId>* groups) {
  std::vector<NodeId> calls, open;
  if (!meta.has(meta_field::kSaver)) return calls;
  const std::string_view def = meta.part(meta_field::kSaver);
  std::unordered_set<NodeId> seen;
  const auto go = [&](std::string_view name) {
    const NodeId id = name.empty() ? kNoNode : names.find(node_of(name));
    if (id != kNoNode && seen.insert(id).second) open.push_back(id);
  };
  for (const uint32_t field : {2U, 3U}) {  // save_tensor_name, restore_op_name
    go(last_bytes(def, field));
    while (!open.empty()) {
      const NodeId at = open.back();
      open.pop_back();
      const std::string_view node_def = meta.graph.bytes(at);
      if (is_function(called_function(node_def))) {
        calls.push_back(at);
      } else if (is_no_op(node_op(node_def))) {
        if (groups != nullptr) groups->push_back(at);
        each_input(node_def, go);
      }
    }
  }
  return calls;
}

std::unordered_map<uint32_t, std::string> keys_in_functions(const MetaGraph& meta, const Names& names,
                                                            Library& library) {
  std::unordered_set<std::string_view> functions;
  for (const Function& function : library.functions) functions.insert(function.name);
  KeyReader reader(library);
  for (const NodeId call :
       saver_calls(meta, names, [&](std::string_view name) { return functions.contains(name); })) {
    const std::string_view node_def = meta.graph.bytes(call);
    std::vector<NodeId> arguments;
    each_input(node_def, [&](std::string_view text) {
      const NodeId id = names.find(parse_input(text).node);
      const bool variable = id != kNoNode && is_variable_op(node_op(meta.graph.bytes(id)));
      arguments.push_back(variable ? id : kNoNode);
    });
    reader.call(called_function(node_def), arguments, 0);
  }
  return reader.take();
}

}  // namespace gedit
