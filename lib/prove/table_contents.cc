#include "prove/table_contents.h"

#include <algorithm>

#include "graph/function_names.h"
#include "model/asset_paths.h"
#include "model/collections.h"
#include "prove/side.h"

namespace gedit {
namespace {

constexpr int kMostPassed = 64;  // nodes in a row that hand on what they read
constexpr int kDeepestCall = 8;
constexpr size_t kMostCalls = 10000;  // of functions that are given tables

}  // namespace

TableContents::TableContents(Side& side, Classes& classes, Contents& contents)
    : side_(side), classes_(classes), contents_(contents) {
  const Graph& graph = side.graph();
  if (!graph.has_any(OpKind::kTable)) return;
  for (const Asset& asset : assets(side.model().meta())) assets_.emplace(node_of(asset.tensor), asset.file);
  const auto value_of = [this](std::string_view input) { return in_main(input); };
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (!graph.removed(NodeId{i})) look_at(graph.bytes(NodeId{i}), value_of, 0);
  }
}

std::string TableContents::state_of(std::string_view node_def) {
  return name_of_state(node_def).value_or("\n" + std::string(node_name(node_def)));
}

std::optional<std::string> TableContents::of(const std::string& state) const {
  const auto found = filled_.find(state);
  return found == filled_.end() ? std::nullopt : found->second;
}

// An initializer, or a call of a function in which one may be.
template <typename ValueOf>
void TableContents::look_at(std::string_view node_def, const ValueOf& value_of, int depth) {
  const std::string_view op = node_op(node_def);
  const bool fills = side_.labels().op(op).kinds.has(OpKind::kTableInitializer);
  const std::string_view function = side_.body(op) != nullptr ? op : called_function(node_def);
  if (!fills && function.empty()) return;
  std::vector<Value> values;
  each_input(node_def, [&](std::string_view input) {
    if (!input.starts_with('^')) values.push_back(value_of(input));
  });
  const auto is_table = [](const Value& value) { return !value.table.empty(); };
  if (std::ranges::none_of(values, is_table)) return;
  if (!fills) return look_into(function, values, depth + 1);
  if (!is_table(values[0])) return;
  // Keys and values are the same by whatever op; how a file is read its attributes say. A path is no content.
  const bool reads_file = values.size() == 2;
  NodeText text;
  std::string by = reads_file ? classes_.label(side_.labels().of(node_def, text).label).text : std::string();
  bool known = true;
  for (size_t k = 1; k < values.size(); ++k) {
    const std::string held = reads_file && values[k].asset == nullptr ? std::string() : text_of(values[k]);
    known = known && !held.empty();
    by.append("\n").append(held);
  }
  const auto [found, fresh] = filled_.try_emplace(values[0].table);
  // Of two the last one counts.
  found->second = fresh && known ? std::optional(std::move(by)) : std::nullopt;
}

void TableContents::look_into(std::string_view function, const std::vector<Value>& arguments, int depth) {
  CalledBody* const body = side_.body(function);
  if (body == nullptr || depth > kDeepestCall || looked_into_.size() > kMostCalls) return;
  std::string key(function);
  for (const Value& argument : arguments) {
    key.append("\n").append(argument.table).append("\n");
    if (argument.asset != nullptr) key += *argument.asset;
    key.append(argument.const_def.data() == nullptr ? "" : node_name(argument.const_def));
  }
  // A second call fills it again with the same.
  if (!looked_into_.insert(std::move(key)).second) return;
  const Graph& graph = body->graph;
  const auto value_of = [&](std::string_view input) -> Value {
    for (int step = 0; step < kMostPassed; ++step) {
      const std::string_view name = parse_body_input(input).node;
      if (const auto argument = body->arguments.find(name); argument != body->arguments.end())
        return argument->second < arguments.size() ? arguments[argument->second] : Value();
      const NodeId node = body->names.find(name);
      if (node == kNoNode) return {};
      const std::string_view node_def = graph.bytes(node);
      if (graph.is(node, OpKind::kConst)) return {.const_def = node_def};
      const std::vector<std::string_view> inputs = input_views(node_def);
      if (side_.labels().op(graph.op(node)).conduct != Conduct::kPasses || inputs.empty()) return {};
      input = inputs[0];
    }
    return {};
  };
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (!graph.removed(NodeId{i})) look_at(graph.bytes(NodeId{i}), value_of, depth);
  }
}

TableContents::Value TableContents::in_main(std::string_view input) {
  const Graph& graph = side_.graph();
  for (int step = 0; step < kMostPassed; ++step) {
    const NodeId node = side_.names().find(parse_input(input).node);
    if (node == kNoNode) return {};
    const std::string_view node_def = graph.bytes(node);
    if (graph.is(node, OpKind::kTable)) return {.table = state_of(node_def)};
    if (graph.is(node, OpKind::kConst)) {
      const auto file = assets_.find(node_name(node_def));
      return {.const_def = node_def, .asset = file == assets_.end() ? nullptr : &file->second};
    }
    const std::vector<std::string_view> inputs = input_views(node_def);
    if (side_.op(node).conduct != Conduct::kPasses || inputs.empty()) return {};
    input = inputs[0];
  }
  return {};
}

// Empty where it is not known.
std::string TableContents::text_of(const Value& value) {
  if (value.asset != nullptr) {
    const auto digest = asset_digest(side_.model(), *value.asset);
    return digest ? "file " + std::to_string(digest->first) + " " + std::to_string(digest->second) : "";
  }
  const auto held = value.const_def.data() == nullptr ? std::nullopt : find_attr(value.const_def, "value");
  if (!held) return "";
  return "const " + std::to_string(contents_.of_tensor(last_bytes(*held, attr_field::kTensor)));
}

}  // namespace gedit
