#include "edit/retargeting/rewriting.h"

#include <algorithm>

#include "base/map_entry.h"
#include "edit/functions/function_def.h"
#include "edit/retargeting/seed_keys.h"
#include "graph/library.h"
#include "graph/wiring.h"

namespace gedit {

bool KnownShape::equal_to(const KnownShape& other, size_t first, size_t last) const {
  if (!shape || !other.shape || last > shape->size() || last > other.shape->size()) return false;
  for (size_t i = first; i < last; ++i) {
    if ((*shape)[i] != (*other.shape)[i]) return false;
    if ((*shape)[i] >= 0) continue;
    const uint32_t symbol = i < symbols.size() ? symbols[i] : 0;
    if (symbol == 0 || i >= other.symbols.size() || other.symbols[i] != symbol) return false;
  }
  return true;
}

bool KnownShape::equal_to(const KnownShape& other) const {
  return shape && other.shape && shape->size() == other.shape->size() && equal_to(other, 0, shape->size());
}

Rewriting::Rewriting(Graph& graph, Registry& ops, const std::set<std::string, std::less<>>* named_outside,
                     ShapesOfGraph shapes, std::function<bool(std::string_view)> takes)
    : graph_(graph),
      ops_(ops),
      named_outside_(named_outside),
      shapes_(std::move(shapes)),
      takes_(std::move(takes)) {}

const Names& Rewriting::names() {
  if (!names_) names_.emplace(graph_);
  return *names_;
}

std::string Rewriting::canonical(std::string_view input) const {
  if (input.starts_with('^')) return std::string(input);
  const Input parts = parse_input_of(graph_, input);
  if (!graph_.is_body()) return std::string(parts.node).append(":").append(std::to_string(parts.index()));
  if (parts.port.empty()) return std::string(input);
  const BodyPort port = parse_body_port(parts.port);
  return body_tensor_text(parts.node, port.output, port.number);
}

NodeId Rewriting::producer(std::string_view input) {
  const Input parts = parse_input_of(graph_, input);
  if (graph_.is_body() && parts.port.empty() && !parts.control) return kNoNode;
  const NodeId id = names().find(parts.node);
  return id == kNoNode || graph_.removed(id) ? kNoNode : id;
}

KnownShape Rewriting::shape(std::string_view input) {
  const NodeId id = producer(input);
  if (id == kNoNode) {
    const auto argument = shapes_.arguments.find(std::string(input));
    return argument == shapes_.arguments.end() ? KnownShape() : KnownShape{argument->second};
  }
  const std::string_view node_def = graph_.bytes(id);
  const Input parts = parse_input_of(graph_, input);
  uint32_t output = parts.index();
  if (graph_.is_body()) {
    const auto index = body_output_index(ops_, node_def, parts.port);
    if (!index) return {};
    output = *index;
  }
  const Graph* before = shapes_.graph;
  if (shapes_.shapes != nullptr && before != nullptr && index_of(id) < before->size() &&
      !before->removed(id) && before->name(id) == graph_.name(id)) {
    KnownShape known{shapes_.shapes->shape(id, output)};
    if (known.shape) {
      known.symbols = shapes_.shapes->symbols(id, output);
      return known;
    }
  }
  return {output_shape(node_def, output)};
}

bool Rewriting::read(const std::string& tensor) {
  if (!read_) {
    read_.emplace();
    graph_.each_record([&](std::string_view node_def) {
      each_input(node_def, [&](std::string_view input) {
        if (!input.starts_with('^')) read_->insert(canonical(input));
      });
    });
  }
  const auto is_read = [&](const std::string& one) { return read_->contains(one) || leaves(one); };
  if (is_read(tensor)) return true;
  const auto [begin, end] = redirected_to_.equal_range(tensor);
  return std::any_of(begin, end, [&](const auto& from) { return is_read(from.second); });
}

bool Rewriting::leaves(const std::string& tensor) {
  if (!leaving_) {
    leaving_.emplace();
    if (graph_.is_body()) {
      for (const Part& part : graph_.parts()) {
        if (part.field == function_field::kRet)
          leaving_->insert(canonical(map_entry(record_at(part.raw.data()).node_def).value));
      }
    } else if (named_outside_ != nullptr) {
      for (const std::string& name : *named_outside_) leaving_->insert(canonical(name));
    }
  }
  return leaving_->contains(tensor);
}

bool Rewriting::named(const std::string& tensor) { return !graph_.is_body() && leaves(tensor); }

const SeedKeys& Rewriting::seed_keys() {
  if (!seed_keys_) seed_keys_ = std::make_shared<const SeedKeys>(*this);
  return *seed_keys_;
}

void Rewriting::redirect(const std::string& from, const std::string& to) {
  redirected_to_.emplace(canonical(to), from);
  redirects_.insert_or_assign(from, to);
}

std::string Rewriting::output(std::string_view node, std::string_view op, uint32_t index) {
  if (!graph_.is_body()) return tensor_text(node, index);
  const OpDef def = parse_op_def(ops_.find(op));
  return body_tensor_text(node, index < def.outputs.size() ? def.outputs[index].name : "output", 0);
}

std::string Rewriting::free_name(std::string_view base) {
  if (!new_names_) {
    new_names_.emplace(names());
    if (graph_.is_body()) {
      for (const std::string_view argument : argument_names(function_signature(graph_)))
        new_names_->reserve(argument);
    }
  }
  return new_names_->free(base);
}

std::vector<NodeId> Rewriting::take_added() {
  std::vector<NodeId> ids;
  if (added_.empty()) return ids;
  names();  // which must not see them
  for (const std::string& node_def : added_) ids.push_back(graph_.append(node_def));
  added_.clear();
  return ids;
}

void Rewriting::remove(NodeId id, std::vector<std::string> waits) {
  removed_.insert_or_assign(std::string(graph_.name(id)), std::move(waits));
  graph_.remove(id);
}

std::string Rewriting::redirected(const std::string& input) const {
  std::string text = input;
  // One after the other: what was replaced twice was redirected twice.
  for (int steps = 0; steps < 8; ++steps) {
    const auto found = redirects_.find(canonical(text));
    if (found == redirects_.end() || found->second == text) break;
    text = found->second;
  }
  return text;
}

std::vector<std::string> Rewriting::what_stays(const std::vector<std::string>& nodes) const {
  std::vector<std::string> stays, left(nodes.rbegin(), nodes.rend());
  while (!left.empty()) {
    const std::string node = std::move(left.back());
    left.pop_back();
    const auto gone = removed_.find(node);
    if (gone == removed_.end()) {
      if (!arguments_.contains(node)) stays.push_back(node);
    } else {
      left.insert(left.end(), gone->second.rbegin(), gone->second.rend());
    }
  }
  return stays;
}

std::string Rewriting::rewired(std::string_view node_def) const {
  bool changed = false;
  std::vector<std::string> inputs;
  std::unordered_set<std::string> seen;
  for (const std::string_view input : input_views(node_def)) {
    if (!input.starts_with('^')) {
      inputs.push_back(redirected(std::string(input)));
      changed = changed || inputs.back() != input;
      continue;
    }
    const std::string node(input.substr(1));
    changed = changed || removed_.contains(node);
    for (const std::string& stays : what_stays({node})) {
      if (seen.insert(stays).second) inputs.push_back("^" + stays);
    }
  }
  return changed ? with_inputs(node_def, inputs) : std::string();
}

void Rewriting::finish() {
  take_added();
  if (redirects_.empty() && removed_.empty()) return;
  if (graph_.is_body()) {
    for (const std::string_view name : argument_names(function_signature(graph_))) arguments_.emplace(name);
  }
  for (uint32_t i = 0; i < graph_.size(); ++i) {
    if (graph_.removed(NodeId{i})) continue;
    if (std::string node_def = rewired(graph_.bytes(NodeId{i})); !node_def.empty())
      graph_.replace(NodeId{i}, node_def);
  }
  if (!graph_.is_body()) return;
  FunctionDef def(graph_);
  def.map_returns([&](std::string_view, std::string_view source) { return redirected(std::string(source)); });
  // Who calls it waits for the nodes that a node that is gone waited for.
  def.add_control_outputs([&](std::string_view node) {
    const auto gone = removed_.find(std::string(node));
    return gone == removed_.end() ? std::vector<std::string>() : what_stays(gone->second);
  });
  def.remove_control_outputs([&](std::string_view node) { return removed_.contains(std::string(node)); });
  def.store();
}

}  // namespace gedit
