#include "model/saver_calls.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "graph/function_names.h"
#include "graph/references.h"
#include "model/collections.h"
#include "model/saver_def.h"
#include "model/savers.h"
#include "ops/kinds.h"

namespace gedit {
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
    for (const SaverNode& restore : find_savers(body, Names(body)).restores) {
      for (const SavedTensor& tensor : restore.tensors) {
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

std::vector<NodeId> saver_calls(const MetaGraph& meta, const Names& names, const Library& library,
                                std::vector<NodeId>* groups) {
  std::vector<NodeId> calls, open;
  if (!meta.has(meta_field::kSaver)) return calls;
  std::unordered_set<std::string_view> functions;
  for (const Function& function : library.functions) functions.insert(function.name);
  const SaverDefNodes def = saver_def_nodes(meta.part(meta_field::kSaver), names);
  std::unordered_set<NodeId> seen;
  const auto go = [&](NodeId id) {
    if (id != kNoNode && seen.insert(id).second) open.push_back(id);
  };
  for (const NodeId end : {def.save, def.restore}) {
    go(end);
    while (!open.empty()) {
      const NodeId at = open.back();
      open.pop_back();
      const std::string_view node_def = meta.graph.bytes(at);
      if (functions.contains(called_function(node_def))) {
        calls.push_back(at);
      } else if (is_no_op(node_op(node_def))) {
        if (groups != nullptr) groups->push_back(at);
        each_input(node_def, [&](std::string_view input) { go(names.find(node_of(input))); });
      }
    }
  }
  return calls;
}

std::unordered_map<uint32_t, std::string> keys_in_functions(const MetaGraph& meta, const Names& names,
                                                            Library& library) {
  KeyReader reader(library);
  for (const NodeId call : saver_calls(meta, names, library)) {
    const std::string_view node_def = meta.graph.bytes(call);
    std::vector<NodeId> arguments;
    each_input(node_def, [&](std::string_view text) {
      const NodeId id = names.find(parse_input(text).node);
      const bool variable = id != kNoNode && meta.graph.is(id, OpKind::kVariable);
      arguments.push_back(variable ? id : kNoNode);
    });
    reader.call(called_function(node_def), arguments, 0);
  }
  return reader.take();
}

}  // namespace gedit
