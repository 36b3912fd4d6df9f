#include "prove/table_contents.h"

#include <algorithm>

#include "graph/function_names.h"
#include "graph/wiring.h"
#include "model/asset_paths.h"
#include "model/collections.h"
#include "prove/side.h"

namespace gedit {
namespace {

constexpr int kMostPassed = 64;  // nodes in a row that hand on what they read
constexpr int kDeepestFilling = 8;
constexpr size_t kMostCalls = 10000;  // of functions that are given tables

}  // namespace

TableContents::TableContents(Side& side, Classes& classes, Contents& contents)
    : side_(side), classes_(classes), contents_(contents) {
  const Graph& graph = side.graph();
  if (!graph.has_any(OpKind::kTable)) return;
  for (const Asset& asset : assets(side.model().meta())) assets_.emplace(node_of(asset.tensor), asset.file);
  look_over({.graph = graph, .names = side.names()});
}

std::string TableContents::state_of(std::string_view node_def) {
  return name_of_state(node_def).value_or("\n" + std::string(node_name(node_def)));
}

std::optional<std::string> TableContents::of(const std::string& state) const {
  const auto found = filled_.find(state);
  return found == filled_.end() ? std::nullopt : found->second;
}

void TableContents::look_over(const Place& place) {
  for (uint32_t i = 0; i < place.graph.size(); ++i) {
    if (!place.graph.removed(NodeId{i})) look_at(place, place.graph.bytes(NodeId{i}));
  }
}

// An initializer, or a call of a function in which one may be.
void TableContents::look_at(const Place& place, std::string_view node_def) {
  const std::string_view op = node_op(node_def);
  const bool fills = side_.labels().op(op).kinds.has(OpKind::kTableInitializer);
  const std::string_view function = side_.body(op) != nullptr ? op : called_function(node_def);
  if (!fills && function.empty()) return;
  std::vector<Value> values;
  each_input(node_def, [&](std::string_view input) {
    if (!input.starts_with('^')) values.push_back(value_of(place, input));
  });
  const auto is_table = [](const Value& value) { return !value.table.empty(); };
  if (std::ranges::none_of(values, is_table)) return;
  if (!fills) return look_into(function, values, place.depth + 1);
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
  if (body == nullptr || depth > kDeepestFilling || looked_into_.size() > kMostCalls) return;
  std::pair<std::string, std::vector<const char*>> key{std::string(function), {}};
  for (const Value& argument : arguments) {
    key.first.append("\n").append(argument.table);
    key.second.push_back(argument.const_def.data());  // the very node
  }
  // A second call fills it again with the same.
  if (!looked_into_.insert(std::move(key)).second) return;
  look_over({body->graph, body->names, body, &arguments, depth});
}

// Through what only hands on.
TableContents::Value TableContents::value_of(const Place& place, std::string_view input) {
  const Graph& graph = place.graph;
  for (int step = 0; step < kMostPassed; ++step) {
    const std::string_view name = parse_input_of(graph, input).node;
    if (place.body != nullptr) {
      const auto argument = place.body->arguments.find(name);
      if (argument != place.body->arguments.end())
        return argument->second < place.arguments->size() ? (*place.arguments)[argument->second] : Value();
    }
    const NodeId node = place.names.find(name);
    if (node == kNoNode) return {};
    const std::string_view node_def = graph.bytes(node);
    const bool main = place.body == nullptr;
    if (main && graph.is(node, OpKind::kTable)) return {.table = state_of(node_def)};
    if (graph.is(node, OpKind::kConst)) {
      const auto file = main ? assets_.find(name) : assets_.end();
      return {.const_def = node_def, .asset = file == assets_.end() ? nullptr : &file->second};
    }
    const std::vector<std::string_view> inputs = input_views(node_def);
    if (side_.labels().op(graph.op(node)).conduct != Conduct::kPasses || inputs.empty()) return {};
    input = inputs[0];
  }
  return {};
}

// Empty where it is not known.
std::string TableContents::text_of(const Value& value) {
  if (value.asset != nullptr) {
    const auto digest = side_.assets().of(*value.asset);
    return digest ? "file " + std::to_string(digest->first) + " " + std::to_string(digest->second) : "";
  }
  const auto held = value.const_def.data() == nullptr ? std::nullopt : find_attr(value.const_def, "value");
  if (!held) return "";
  return "const " + std::to_string(contents_.of_tensor(last_bytes(*held, attr_field::kTensor)));
}

}  // namespace gedit
