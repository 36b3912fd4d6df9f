#include "edit/savers/keep_functions.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "checkpoint/bundle.h"
#include "edit/functions/call_attributes.h"
#include "edit/savers/function_reduction.h"
#include "graph/function_names.h"
#include "model/saver_calls.h"
#include "model/saver_def.h"
#include "model/savers.h"
#include "ops/kinds.h"

namespace gedit {
SaverFunctionShrinking::SaverFunctionShrinking(Facts& facts, Closure& closure)
    : facts_(facts), closure_(closure) {
  if (facts.in_body()) return;
  all_ = saver_calls(facts.model.meta(), facts.names(), facts.selecting().library(), &groups_);
  known_.insert(all_.begin(), all_.end());
}

void SaverFunctionShrinking::complete(const std::function<bool(NodeId)>& stays) {
  calls_.clear();
  const Graph& graph = facts_.graph();
  for (const NodeId id : all_) {
    Call call{id, {}};
    bool any = false;
    for (const std::string& input : inputs_of(graph.bytes(id))) {
      if (input.starts_with('^')) break;
      const NodeId state = state_behind(graph, facts_.names(), input);
      call.dropped.push_back(state != kNoNode && !stays(state));
      any = any || (state != kNoNode && stays(state));
    }
    if (any) calls_.push_back(std::move(call));
  }
  if (calls_.empty()) return;
  const SaverDefNodes def = saver_def_nodes(facts_.model.meta().part(meta_field::kSaver), facts_.names());
  if (def.filename != kNoNode) closure_.want(def.filename);
  for (const Call& call : calls_) {
    closure_.want_alone(call.node);
    size_t slot = 0;
    for (const std::string& input : inputs_of(graph.bytes(call.node))) {
      const size_t here = slot++;
      if (here < call.dropped.size() && call.dropped[here]) continue;
      if (const auto tensor = tensor_if_there(facts_.names(), input)) closure_.want(tensor->node);
    }
  }
  for (const NodeId group : groups_) {
    const auto members = facts_.producers().of(group);
    if (std::any_of(members.begin(), members.end(), [&](NodeId id) { return closure_.nodes().has(id); }))
      closure_.want_alone(group);
  }
}

// What the function saves for an argument that goes, and the argument that is saved as the object graph.
void SaverFunctionShrinking::tell_keys(const Call& call, const Function& function,
                                       std::set<std::string, std::less<>>& dropped,
                                       std::set<NodeId>& object_graphs) const {
  Graph body = function.body;
  body.decode();
  const std::vector<std::string_view> arguments = argument_names(function_signature(body));
  const std::vector<std::string> inputs = inputs_of(facts_.graph().bytes(call.node));
  std::unordered_map<std::string_view, size_t> numbers;
  for (size_t i = 0; i < arguments.size() && i < inputs.size(); ++i) numbers.emplace(arguments[i], i);
  for (const SaverNode& save : find_savers(body, Names(body)).saves) {
    for (const SavedTensor& tensor : save.tensors) {
      const auto number = numbers.find(tensor.argument);
      if (number == numbers.end()) continue;
      const size_t at = number->second;
      if (at < call.dropped.size() && call.dropped[at]) dropped.insert(tensor.key);
      if (tensor.key != kObjectGraphKey) continue;
      if (const auto source = tensor_if_there(facts_.names(), inputs[at])) object_graphs.insert(source->node);
    }
  }
}

void SaverFunctionShrinking::apply(Changes& changes, std::set<std::string, std::less<>>& dropped,
                                   std::set<NodeId>& object_graphs) {
  Graph& graph = facts_.model.graph();
  for (const NodeId group : groups_) {
    std::vector<std::string> left, all = inputs_of(graph.bytes(group));
    for (const std::string& input : all) {
      const auto tensor = tensor_if_there(facts_.names(), input);
      if (!tensor || closure_.nodes().has(tensor->node)) left.push_back(input);
    }
    if (closure_.nodes().has(group) && left.size() != all.size())
      graph.replace(group, with_inputs(graph.bytes(group), left));
  }
  std::map<std::string, std::string, std::less<>> made;  // by name
  Library library = Library::decode(graph.part(graph_field::kLibrary), facts_.model.arena);
  std::unordered_set<std::string_view> functions;
  for (const Function& function : library.functions) functions.insert(function.name);
  for (const Call& call : calls_) {
    if (std::find(call.dropped.begin(), call.dropped.end(), true) == call.dropped.end()) continue;
    const std::string name(called_function(graph.bytes(call.node)));
    Function* function = library.find(name);
    if (function == nullptr) continue;
    tell_keys(call, *function, dropped, object_graphs);
    made[name] = function_without(function->body.message(), facts_.model.arena, call.dropped,
                                  [&](std::string_view called) { return functions.contains(called); });
    std::vector<std::string> inputs;
    std::vector<DType> types, all = type_list(find_attr(graph.bytes(call.node), "Tin").value_or(""));
    size_t slot = 0;
    for (std::string& input : inputs_of(graph.bytes(call.node))) {
      const size_t here = slot++;
      if (here < call.dropped.size() && call.dropped[here]) continue;
      inputs.push_back(std::move(input));
      if (here < all.size()) types.push_back(all[here]);
    }
    const std::string node_def = with_arguments(graph.bytes(call.node), inputs, types);
    changes.changed.emplace_back(graph.name(call.node), "without what is gone");
    graph.replace(call.node, without_attr(node_def, "_read_only_resource_inputs"));
  }
  if (made.empty()) return;
  std::string out;
  for (const Library::Item& item : library.items) {
    const auto found = item.field == 1 ? made.find(library.functions[item.function].name) : made.end();
    if (found == made.end()) {
      out += item.raw;
    } else {
      append_bytes_field(out, 1, found->second);
    }
  }
  graph.set_part(graph_field::kLibrary, std::move(out));
}

}  // namespace gedit
