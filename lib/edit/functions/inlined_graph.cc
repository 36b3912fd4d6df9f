#include "edit/functions/inlined_graph.h"

#include "base/error.h"
#include "base/first_free.h"
#include "base/map_entry.h"
#include "graph/library.h"
#include "graph/wiring.h"
#include "ops/kinds.h"

namespace gedit {

InlinedGraph::InlinedGraph(Graph& graph) : graph_(graph), names_(graph) {
  if (!graph.is_body()) return;
  for (const std::string_view argument : argument_names(function_signature(graph))) given_.emplace(argument);
}

std::string InlinedGraph::free_name(std::string_view base) {
  const auto taken = [&](const std::string& one) {
    return names_.find(one) != kNoNode || given_.contains(one);
  };
  std::string name = free_names_.first(base, taken);
  given_.insert(name);
  return name;
}

std::string InlinedGraph::free_frame(std::string_view base) {
  if (!frames_known_) {
    frames_known_ = true;
    graph_.each_of(OpKind::kEnter, [&](NodeId id) {
      frames_.emplace(string_attr(graph_.bytes(id), "frame_name").value_or(""));
    });
  }
  std::string name = free_frames_.first(base, [&](const std::string& one) { return frames_.contains(one); });
  frames_.insert(name);
  return name;
}

NodeId InlinedGraph::add(std::string_view node_def) {
  const NodeId id = graph_.append(node_def);
  added_.emplace(graph_.name(id), id);
  return id;
}

std::string InlinedGraph::text(std::string_view node, std::string_view output, uint32_t number,
                               uint32_t index) const {
  return is_body() ? body_tensor_text(node, output, number) : tensor_text(node, index);
}

std::string_view InlinedGraph::node_of(std::string_view tensor) const {
  return parse_input_of(graph_, tensor).node;
}

NodeId InlinedGraph::find(std::string_view node) const {
  const auto found = added_.find(node);
  return found != added_.end() ? found->second : names_.find(node);
}

NodeId InlinedGraph::producer(std::string_view tensor) const {
  const Input input = parse_input_of(graph_, tensor);
  if (is_body() && input.port.empty()) return kNoNode;
  return find(input.node);
}

std::string InlinedGraph::canonical(std::string_view tensor) const {
  const Input input = parse_input_of(graph_, tensor);
  if (!is_body()) return std::string(input.node).append(":").append(std::to_string(input.index()));
  const BodyPort port = parse_body_port(input.port);
  return body_tensor_text(input.node, port.output, port.number);
}

void InlinedGraph::redirect(std::string_view from, std::string to, bool of_stand_in) {
  redirected_.emplace(node_of(from));
  redirects_[canonical(from)] = {std::move(to), of_stand_in};
}

std::string InlinedGraph::resolved(std::string_view tensor) {
  std::string at(tensor);
  std::vector<std::string> passed;
  bool last = false;
  while (!last && redirected_.contains(std::string(node_of(at)))) {
    if (passed.size() > redirects_.size())
      throw refused("is made of nothing but itself").of(quoted("tensor", tensor));
    std::string key = canonical(at);
    const auto found = redirects_.find(key);
    if (found == redirects_.end()) break;
    at = found->second.to;
    last = found->second.last;
    passed.push_back(std::move(key));
  }
  for (size_t i = 0; i + 1 < passed.size(); ++i) redirects_[passed[i]] = {at, last};
  return at;
}

void InlinedGraph::rewire(NodeId id) {
  const std::string_view node_def = graph_.bytes(id);
  bool changes = false;
  each_input(node_def, [&](std::string_view input) {
    changes = changes || (!input.starts_with('^') && redirected_.contains(std::string(node_of(input))));
  });
  if (!changes) return;
  std::vector<std::string> inputs;
  each_input(node_def, [&](std::string_view input) {
    inputs.push_back(input.starts_with('^') ? std::string(input) : resolved(input));
  });
  graph_.replace(id, with_inputs(node_def, inputs));
}

void InlinedGraph::rewire_returns() {
  std::vector<std::string> returns;
  bool changes = false;
  for (const Part& part : graph_.parts()) {
    if (part.field != function_field::kRet) continue;
    const std::string_view content = record_at(part.raw.data()).node_def;
    const MapEntry entry = map_entry(content);
    const std::string now = resolved(entry.value);
    changes = changes || now != entry.value;
    returns.push_back(now == entry.value ? std::string(content) : map_entry_bytes(entry.key, now));
  }
  if (changes) graph_.set_parts(function_field::kRet, std::move(returns));
}

void InlinedGraph::finish() {
  if (!redirects_.empty()) {
    std::unordered_set<uint32_t> gone;
    for (const NodeId id : removed_) gone.insert(index_of(id));
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      if (!graph_.removed(NodeId{i}) && !gone.contains(i)) rewire(NodeId{i});
    }
    if (is_body()) rewire_returns();
  }
  for (const NodeId id : removed_) graph_.remove(id);
}

}  // namespace gedit
